import type { RawBuilder, Transaction } from 'kysely';

import type { Connection, Dialect } from '../dialects/dialect.ts';
import type { Tables } from '../tables/tables.ts';

/** An open unit of work. */
export type StoreTransaction = Transaction<Tables>;

/** The parts of a database that reads need. */
export interface Reads {
  readonly dialect: Dialect;
  /** For reads, which never wait for a writer. Writes go through `transaction`. */
  readonly db: Connection;
}

/** The machines over which Citus spreads a database. */
export interface Machines {
  /** The names of those that don't answer, as of the last look. */
  readonly away: readonly string[];
  /** Has them looked at, unless that was just done. */
  suspect(): void;
  /** The companies of each machine that answers. */
  reached(): Promise<string[][]>;
}

/** A database with one writer at a time. */
export interface Engine extends Reads, AsyncDisposable {
  /** Reads of this moment, whatever is committed meanwhile, until it is disposed of. It takes a connection. */
  snapshot(): Promise<Reads & AsyncDisposable>;
  /**
   * Runs one unit of work: all of it is committed, or none. Writers take turns (SQLite takes its write lock first),
   * so a unit must not wait for anything but the database.
   * @throws AppError `unavailable` when the database stays locked by another process.
   */
  transaction<T>(work: (transaction: StoreTransaction) => Promise<T>): Promise<T>;
  /** Runs one statement as a unit of work: without a round trip for its beginning and its end, where there is one. */
  write<Row>(statement: RawBuilder<Row>): Promise<Row[]>;
  /**
   * Calls back soon after anything was committed that may have brought new deliveries, until it is disposed of: at once
   * when this process did it or PostgreSQL tells, within a tenth of a second when another process wrote to SQLite.
   * It may call without any news, and may miss some while a connection is broken.
   */
  watchDeliveries(onNews: () => void): AsyncDisposable;
  /**
   * A number that differs after every commit to the database, by whatever process. Undefined on PostgreSQL, where asking
   * for it would cost as much as a read, and while SQLite has no answer because of a lock.
   */
  version(): number | undefined;
  /** Looks whether the database answers within a second, however many wait for it. @throws AppError `unavailable` otherwise. */
  answers(): Promise<void>;
  /** Whether companies are spread over several machines, which the first connection tells; see ../machines.ts. */
  isDistributed(): Promise<boolean>;
  /** Undefined on one machine. */
  readonly machines?: Machines | undefined;
  /** Runs a statement of a schema change or of an inspection as it is, where writes are made. */
  readonly run: (sql: string, parameters?: readonly unknown[]) => Promise<Record<string, unknown>[]>;
}
