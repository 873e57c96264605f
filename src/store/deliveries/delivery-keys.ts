import { type Compilable, type Kysely, type RawBuilder, sql } from 'kysely';

import type { Engine } from '../engines/engine.ts';
import type { Tables } from '../schema.ts';

/** A webhook of a company. */
export interface WebhookKey {
  company: string;
  webhook: string;
}

/** A delivery to a webhook. */
export interface DeliveryKey extends WebhookKey {
  id: string;
}

/**
 * Rows of values for one statement, as JSON text: an array of arrays. One statement for any number of rows is what
 * makes a group of deliveries cost little more than one.
 */
export function rowsOf(rows: readonly (readonly (string | number | null)[])[]): string {
  return JSON.stringify(rows);
}

/** The keys of deliveries as rows of values. */
export function keyRows(keys: readonly DeliveryKey[]): string {
  return rowsOf(keys.map(({ company, webhook, id }) => [company, webhook, id]));
}

/**
 * The rows of such a text, as a table that is called `chosen`. PostgreSQL expects 10 elements of an array. Of a JSON array
 * it expects 100, for which it would read a table of some thousand deliveries whole.
 */
export function chosenIn({ name }: Engine, text: string): RawBuilder<unknown> {
  return name === 'sqlite'
    ? sql`json_each(${text}) AS chosen`
    : sql`unnest(ARRAY(SELECT jsonb_array_elements(CAST(${text} AS JSONB)))) AS chosen (value)`;
}

/** A value of a chosen row, as text. */
export function chosenText(place: number): RawBuilder<string> {
  return sql`(chosen.value ->> ${sql.lit(place)})`;
}

/** A value of a chosen row, as an integer. */
export function chosenInteger(place: number): RawBuilder<number> {
  return sql`CAST(chosen.value ->> ${sql.lit(place)} AS INTEGER)`;
}

/** The row of `deliveries`, under the name that it has in the statement, is one whose key was chosen. */
export function isChosen(table: string): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  return sql`${column('company')} = ${chosenText(0)} AND ${column('webhook')} = ${chosenText(1)}
    AND ${column('id')} = ${chosenText(2)}`;
}

/** A statement in SQL of its own, as the engine takes them. */
export function written<Row>(db: Kysely<Tables>, query: RawBuilder<Row>): Compilable<Row> {
  return { compile: () => query.compile(db) };
}
