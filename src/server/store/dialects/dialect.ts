import { type Kysely, type RawBuilder, sql } from 'kysely';

import type { EngineName } from '../tables/table.ts';
import type { Tables } from '../tables/tables.ts';
import type { Administration } from './administration.ts';

/** Kysely's interface to a database or one of its transactions. */
export type Connection = Kysely<Tables>;

/**
 * The differences between statements for SQLite and PostgreSQL. SQLite's writers take turns, so it needs no row locks.
 */
export interface Dialect {
  readonly name: EngineName;
  readonly administration: Administration;
  /** Whether processes on several machines can share the database, and so share their rate counts. */
  readonly isShared: boolean;
  /** Whether companies are spread over several machines; false until the first connection. See ../machines.ts. */
  isDistributed: boolean;
  /** Clause after a SELECT that locks its rows until the transaction ends. */
  readonly forUpdate: RawBuilder<unknown>;
  /** Clause after a SELECT that locks its rows, but skips rows that another transaction has locked. */
  readonly forUpdateSkipLocked: RawBuilder<unknown>;
  /** Clause after a SELECT that prevents its rows from being deleted until the transaction ends. */
  readonly forKeyShare: RawBuilder<unknown>;
  /** Clause after a table name that makes SQLite use this index, where it would choose another or none. */
  readonly indexedBy: (index: string) => RawBuilder<unknown>;
  /** Maximum number of a range's matches that are counted and sorted for each page. */
  readonly sortedMax: number;
  /** Rows that a scan reads before it yields to other requests; undefined for PostgreSQL, a separate process. */
  readonly slice: number | undefined;
  /** Wraps one of several selections that are merged in order, so that PostgreSQL reads no more than a page of each. */
  readonly mergedPart: (selection: RawBuilder<unknown>, inOrder: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** Whether a subquery can refer to earlier tables of its FROM clause (`LATERAL`). */
  readonly hasLateral: boolean;
  /** Returns a table called `chosen` with the rows of a JSON text, an array of arrays. */
  readonly chosenIn: (text: string) => RawBuilder<unknown>;
  /** Lower-cases the ASCII letters of a text, as the search indexes do. */
  readonly lowered: (text: string) => RawBuilder<string>;
  /** Returns the position of a text's first occurrence in a column, from 1; 0 if there is none. */
  readonly position: (column: string, text: string) => RawBuilder<number>;
  /** Selects a column of bytes in the form that the driver reads fastest. */
  readonly selectBytes: (column: string) => RawBuilder<Buffer | string>;
  /** Notifies workers in other processes of new deliveries; on SQLite they see every commit anyway. */
  readonly tellWorkers: (transaction: Connection) => Promise<void>;
}

/** The PostgreSQL notification channel for new deliveries. */
export const DELIVERY_CHANNEL = 'fieldledger_deliveries';

/** Returns the dialect of a connection that an engine has opened, from its adapter. */
export function dialectOf(db: Connection): Dialect {
  const { dialect } = db.getExecutor().adapter as { dialect?: Dialect };
  if (!dialect) throw new Error('No engine has opened this connection.');
  return dialect;
}

/** Wraps a column in an expression that no index covers, so that the planner keeps to the intended index. */
export function withoutIndex(column: string): RawBuilder<unknown> {
  return sql`COALESCE(${sql.ref(column)}, ${sql.ref(column)})`;
}
