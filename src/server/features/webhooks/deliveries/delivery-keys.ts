import { type RawBuilder, sql } from 'kysely';

export interface WebhookKey {
  company: string;
  webhook: string;
}

export interface DeliveryKey extends WebhookKey {
  id: string;
}

/**
 * Rows of values for one statement, as JSON text (an array of arrays), so that a group of deliveries costs little more than one.
 */
export function rowsOf(rows: readonly (readonly (string | number | null)[])[]): string {
  return JSON.stringify(rows);
}

/** The keys of deliveries as rows of values. */
export function keyRows(keys: readonly DeliveryKey[]): string {
  return rowsOf(keys.map(({ company, webhook, id }) => [company, webhook, id]));
}

/** A value of a chosen row, as text. */
export function chosenText(place: number): RawBuilder<string> {
  return sql`(chosen.value ->> ${sql.lit(place)})`;
}

/** A value of a chosen row, as an integer. */
export function chosenInteger(place: number): RawBuilder<number> {
  return sql`CAST(chosen.value ->> ${sql.lit(place)} AS INTEGER)`;
}

/** Whether a row of `deliveries` (by its alias) is among the chosen keys. */
export function isChosen(table: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  return sql`${column('company')} = ${chosenText(0)} AND ${column('webhook')} = ${chosenText(1)}
    AND ${column('id')} = ${chosenText(2)}`;
}
