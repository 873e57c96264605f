import { type RawBuilder, sql } from 'kysely';

export interface WebhookRef {
  company: string;
  webhook: string;
}

export interface DeliveryKey extends WebhookRef {
  id: string;
}

/** Joins a webhook's key into one string. Company ids contain no spaces. */
export const webhookText = ({ company, webhook }: WebhookRef) => `${company} ${webhook}`;

/** Encodes rows of values as JSON (an array of arrays), so that one statement handles a group at little extra cost. */
export function rowsOf(rows: readonly (readonly (string | number | null)[])[]): string {
  return JSON.stringify(rows);
}

/** Encodes delivery keys as rows of values. */
export function keyRows(keys: readonly DeliveryKey[]): string {
  return rowsOf(keys.map(({ company, webhook, id }) => [company, webhook, id]));
}

/** SQL for the value at a position of a row made by `rowsOf`, as text; the row has the alias `chosen`. */
export function chosenText(place: number): RawBuilder<string> {
  return sql`(chosen.value ->> ${sql.lit(place)})`;
}

/** SQL for the value at a position of a row made by `rowsOf`, as an integer; the row has the alias `chosen`. */
export function chosenInteger(place: number): RawBuilder<number> {
  return sql`CAST(chosen.value ->> ${sql.lit(place)} AS INTEGER)`;
}

/** SQL condition that a row of `deliveries`, under the given alias, has the key in a row made by `keyRows`. */
export function isChosen(table: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  return sql`${column('company')} = ${chosenText(0)} AND ${column('webhook')} = ${chosenText(1)}
    AND ${column('id')} = ${chosenText(2)}`;
}
