import { type RawBuilder, sql } from 'kysely';

export interface WebhookKey {
  company: string;
  webhook: string;
}

export interface DeliveryKey extends WebhookKey {
  id: string;
}

/** Encodes rows of values as JSON (an array of arrays), so that one statement handles a group at little extra cost. */
export function rowsOf(rows: readonly (readonly (string | number | null)[])[]): string {
  return JSON.stringify(rows);
}

/** Encodes delivery keys as rows of values. */
export function keyRows(keys: readonly DeliveryKey[]): string {
  return rowsOf(keys.map(({ company, webhook, id }) => [company, webhook, id]));
}

/** Selects a value of a chosen row as text. */
export function chosenText(place: number): RawBuilder<string> {
  return sql`(chosen.value ->> ${sql.lit(place)})`;
}

/** Selects a value of a chosen row as an integer. */
export function chosenInteger(place: number): RawBuilder<number> {
  return sql`CAST(chosen.value ->> ${sql.lit(place)} AS INTEGER)`;
}

/** Whether a row of `deliveries` (by its alias) is among the chosen keys. */
export function isChosen(table: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  return sql`${column('company')} = ${chosenText(0)} AND ${column('webhook')} = ${chosenText(1)}
    AND ${column('id')} = ${chosenText(2)}`;
}
