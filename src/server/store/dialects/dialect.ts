import { type Kysely, type RawBuilder, sql } from 'kysely';

import type { EngineName } from '../tables/table.ts';
import type { Tables } from '../tables/tables.ts';
import type { Administration } from './administration.ts';

/** A database, or a transaction of it. */
export type Connection = Kysely<Tables>;

/**
 * How the statements for SQLite and PostgreSQL differ. SQLite's writers take turns, so it needs no row locks.
 */
export interface Dialect {
  readonly name: EngineName;
  readonly administration: Administration;
  /** Whether processes on several machines share the database, and so their counts. */
  readonly isShared: boolean;
  /** Whether companies are spread over several machines, once there was a connection; see ../machines.ts. */
  isDistributed: boolean;
  /** Follows a SELECT whose rows are to be locked until the transaction ends. */
  readonly forUpdate: RawBuilder<unknown>;
  /** Locks rows likewise, and passes over those that somebody else has locked. */
  readonly forUpdateSkipLocked: RawBuilder<unknown>;
  /** Follows a SELECT of rows whose removal has to wait. */
  readonly forKeyShare: RawBuilder<unknown>;
  /** Follows a table that SQLite would read by another index, or by none. */
  readonly indexedBy: (index: string) => RawBuilder<unknown>;
  /** Matches of a range that are counted and sorted for each page. */
  readonly sortedMax: number;
  /** Rows that a scan passes over before others have their turn; PostgreSQL scans in a process of its own. */
  readonly slice: number | undefined;
  /** One of several selections that are merged in order. Planned by itself, PostgreSQL reads it no further than the page. */
  readonly mergedPart: (selection: RawBuilder<unknown>, inOrder: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** Whether a subquery can look at the row beside it (`LATERAL`). */
  readonly hasLateral: boolean;
  /** The rows of a JSON text, an array of arrays, as a table that is called `chosen`. */
  readonly chosenIn: (text: string) => RawBuilder<unknown>;
  /** A text whose capitals of the basic alphabet are small ones, as the indexes of searches have it. */
  readonly lowered: (text: string) => RawBuilder<string>;
  /** Where a text stands first in a column, from 1; 0 if it doesn't. */
  readonly position: (column: string, text: string) => RawBuilder<number>;
  /** A column of bytes as the driver reads it fastest. */
  readonly selectBytes: (column: string) => RawBuilder<Buffer | string>;
  /** Tells workers of other processes of new deliveries; SQLite tells of every commit. */
  readonly tellWorkers: (transaction: Connection) => Promise<void>;
}

/** Where PostgreSQL tells of new deliveries. */
export const DELIVERY_CHANNEL = 'fieldledger_deliveries';

/** The dialect of a connection that an engine has opened: its adapter has it. */
export function dialectOf(db: Connection): Dialect {
  const { dialect } = db.getExecutor().adapter as { dialect?: Dialect };
  if (!dialect) throw new Error('No engine has opened this connection.');
  return dialect;
}

/** A column as an expression that no index serves: the planner can't leave the index that the statement is to follow. */
export function withoutIndex(column: string): RawBuilder<unknown> {
  return sql`COALESCE(${sql.ref(column)}, ${sql.ref(column)})`;
}
