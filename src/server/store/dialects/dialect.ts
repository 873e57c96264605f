import { type Kysely, type RawBuilder, sql } from 'kysely';

import type { EngineName } from '../tables/table.ts';
import type { Tables } from '../tables/tables.ts';
import type { Administration } from './administration.ts';

/** Kysely's interface to a database, or to one of its transactions. */
export type Connection = Kysely<Tables>;

/** The SQL and abilities in which SQLite and PostgreSQL differ. SQLite's writers take turns, so it needs no row locks. */
export interface Dialect {
  readonly name: EngineName;
  readonly administration: Administration;
  /** Whether processes on several machines can share the database, and so share their rate counts. */
  readonly isShared: boolean;
  /** Whether companies are spread over several machines; false until the first connection. See ../machines.ts. */
  isDistributed: boolean;
  /** SQL after a SELECT that locks its rows until the transaction ends. */
  readonly forUpdate: RawBuilder<unknown>;
  /** SQL after a SELECT that locks its rows, but skips those that another transaction has locked. */
  readonly forUpdateSkipLocked: RawBuilder<unknown>;
  /** SQL after a SELECT that prevents its rows from being deleted until the transaction ends. */
  readonly forKeyShare: RawBuilder<unknown>;
  /** Returns SQL after a table name that makes SQLite use an index, where it would choose another or none. */
  readonly indexedBy: (index: string) => RawBuilder<unknown>;
  /** Maximum number of a range's matches that a list counts and sorts for each page. */
  readonly sortedMax: number;
  /** Number of rows that a scan reads before it lets other requests go on; undefined for PostgreSQL, a separate process. */
  readonly slice: number | undefined;
  /** Returns one of several selections that are merged in order, so written that PostgreSQL reads at most a page of each. */
  readonly mergedPart: (selection: RawBuilder<unknown>, inOrder: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** Whether a subquery can refer to earlier tables of its FROM clause (`LATERAL`). */
  readonly hasLateral: boolean;
  /** Returns SQL for a table called `chosen`, whose rows are those of a JSON array of arrays. */
  readonly chosenIn: (text: string) => RawBuilder<unknown>;
  /** Returns SQL that lower-cases the ASCII letters of a text, as the search indexes do. */
  readonly lowered: (text: string) => RawBuilder<string>;
  /** Returns SQL for the position of a text's first occurrence in a column, from 1; 0 if there is none. */
  readonly position: (column: string, text: string) => RawBuilder<number>;
  /** Returns SQL for a column of bytes, in the form that the driver reads fastest. */
  readonly selectBytes: (column: string) => RawBuilder<Buffer | string>;
  /** Notifies workers in other processes of new deliveries; on SQLite they see every commit anyway. */
  readonly tellWorkers: (transaction: Connection) => Promise<void>;
}

/** The PostgreSQL notification channel for new deliveries. */
export const DELIVERY_CHANNEL = 'fieldledger_deliveries';

/** Returns the dialect of the engine that opened a connection. */
export function dialectOf(db: Connection): Dialect {
  const { dialect } = db.getExecutor().adapter as { dialect?: Dialect };
  if (!dialect) throw new Error('No engine has opened this connection.');
  return dialect;
}

/** Returns SQL for a column's value that no index covers, so that the planner keeps to the intended index. */
export function withoutIndex(column: string): RawBuilder<unknown> {
  return sql`COALESCE(${sql.ref(column)}, ${sql.ref(column)})`;
}
