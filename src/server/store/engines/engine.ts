import type { RawBuilder, Transaction } from 'kysely';

import type { Connection, Dialect } from '../dialects/dialect.ts';
import type { Tables } from '../tables/tables.ts';

/** An open transaction of the store's database. */
export type StoreTransaction = Transaction<Tables>;

/** The parts of an engine that are needed for reading. */
export interface Reads {
  readonly dialect: Dialect;
  /** Connection for reading, which never waits for a writer. Writes go through `transaction`. */
  readonly db: Connection;
}

/** The machines over which Citus distributes a database's companies. */
export interface Machines {
  /** The names of machines that didn't answer at the last check. */
  readonly away: readonly string[];
  /** Starts a check of the machines, unless one was just made. */
  suspect(): void;
  /** Returns the ids of the companies on each machine that answers. */
  reached(): Promise<string[][]>;
}

/** An open database of either kind, SQLite or PostgreSQL. */
export interface Engine extends Reads, AsyncDisposable {
  /** Opens a snapshot for consistent reads, unaffected by later commits, until disposed of. It occupies a connection. */
  snapshot(): Promise<Reads & AsyncDisposable>;
  /**
   * Runs `work` in a transaction and returns its result: either all of it is committed, or nothing. Writers take turns
   * (SQLite takes its write lock first), so `work` must not wait for anything but the database.
   * @throws AppError `unavailable` when the database stays locked by another process.
   */
  transaction<T>(work: (transaction: StoreTransaction) => Promise<T>): Promise<T>;
  /** Runs a statement as its own transaction and returns its rows, without PostgreSQL's round trips to begin and commit. */
  write<Row>(statement: RawBuilder<Row>): Promise<Row[]>;
  /**
   * Calls back soon after any commit that may have added deliveries, until disposed of: at once for this process's commits or
   * PostgreSQL's notifications, and within a tenth of a second when another process has written to SQLite. Calls may be
   * spurious, and notifications may be missed while a connection is broken.
   */
  watchDeliveries(onNews: () => void): AsyncDisposable;
  /**
   * Returns a number that changes with every commit to the database by any process. Undefined on PostgreSQL, where
   * asking for it would cost as much as a read, and while a lock prevents SQLite from answering.
   */
  version(): number | undefined;
  /** Resolves if the database answers within a second, even if the pool is busy. @throws AppError `unavailable` if not. */
  answers(): Promise<void>;
  /** Whether companies are spread over several machines, which the first connection finds out; see ../machines.ts. */
  isDistributed(): Promise<boolean>;
  /** The machines of a distributed database; undefined for a single machine. */
  readonly machines?: Machines | undefined;
  /** Runs an SQL text for a schema change or inspection, on a connection that can write, and returns the rows. */
  readonly run: (sql: string, parameters?: readonly unknown[]) => Promise<Record<string, unknown>[]>;
}
