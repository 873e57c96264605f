import { type RawBuilder, sql } from 'kysely';

/** A column as an expression that no index serves: the planner can't leave the index that the statement is to follow. */
export function withoutIndex(column: string): RawBuilder<unknown> {
  return sql`COALESCE(${sql.ref(column)}, ${sql.ref(column)})`;
}
