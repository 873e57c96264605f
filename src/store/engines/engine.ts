import type { Compilable, Kysely, Transaction } from 'kysely';

import type { Tables } from '../schema.ts';

/** A statement that was built and compiled once; each call binds its values and runs it. */
export type PreparedQuery<Values, Row> = (values: Values) => Promise<Row[]>;

/** An open unit of work. */
export type StoreTransaction = Transaction<Tables>;

/** A statement of a transaction that was built and compiled once. */
export type Command<Values, Row = never> = (transaction: StoreTransaction, values: Values) => Promise<Row[]>;

/** A database: one writer behind Kysely, and reads as statements that stay prepared. */
export interface Engine extends AsyncDisposable {
  readonly name: 'sqlite' | 'postgres';
  /** For statements that are not on the hot path; writes go through `transaction`. */
  readonly db: Kysely<Tables>;
  /**
   * Builds a query once. `build` gets a stand-in for each value, to be placed where the value belongs; building
   * anew for each request would cost more than the read itself.
   */
  prepare<Values, Row>(
    build: (db: Kysely<Tables>, value: Values) => Compilable<Row>,
  ): PreparedQuery<Values, Row>;
  /**
   * Runs one unit of work: all of it is committed, or none. Writers take turns (SQLite takes its write lock first),
   * so a unit must not wait for anything but the database.
   * @throws AppError `unavailable` when the database stays locked by another process.
   */
  transaction<T>(work: (transaction: StoreTransaction) => Promise<T>): Promise<T>;
  /** Builds a statement once, to run inside transactions. */
  command<Values, Row>(build: (db: Kysely<Tables>, value: Values) => Compilable<Row>): Command<Values, Row>;
  /**
   * Calls back soon after anything was committed that may have brought new deliveries, until it is disposed of: at once
   * when this process did it or PostgreSQL tells, within a tenth of a second when another process wrote to SQLite.
   * It may call in vain, and may miss something while a connection is broken.
   */
  watchDeliveries(onNews: () => void): AsyncDisposable;
  /**
   * A number that differs after every commit to the database, by whatever process. Undefined on PostgreSQL, where asking
   * for it would cost as much as a read, and while SQLite has no answer because of a lock.
   */
  version(): number | undefined;
  /** Runs statements of a schema change or of an inspection as they are. */
  run(sql: string, parameters?: readonly unknown[]): Promise<Record<string, unknown>[]>;
}
