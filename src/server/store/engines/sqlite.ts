import { unavailable } from '../../../errors.ts';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import Database from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';

import { sqliteDialect } from '../dialects/sqlite.ts';
import type { Engine } from './engine.ts';
import { noteOurs, refuseForeignFile } from '../foreign.ts';
import type { Tables } from '../tables/tables.ts';
import { createPlaceCheck, makePrivately } from './sqlite-file.ts';

/** Maximum milliseconds that a statement waits for another process's lock. */
const BUSY_MS_MAX = 5_000;
const BUSY_PAUSE_MS = 5;
/**
 * Size of the reader's page cache in KiB: half of SQLite's default, because each process has one. A page outside the cache is
 * read from the operating system, which takes a microsecond.
 */
const READER_CACHE_KIB = 8_000;
/** Maximum milliseconds until reads notice that the file was moved away. */
const PLACE_KNOWN_MS = 1_000;
/** Milliseconds between checks for other processes' commits; a check takes a few microseconds. */
const WATCH_MS = 100;

/**
 * Opens a SQLite file with two handles: a writer, and a reader that never waits for the writer (write-ahead log).
 *
 * The driver's own busy timeout is 0 because it would block the event loop while it waits; a busy statement is retried from
 * here, with pauses. `synchronous=NORMAL` keeps every commit through a kill of the process; a power cut may cost the last
 * commits, never the file's integrity (sqlite.org/pragma.html#pragma_synchronous).
 */
export async function openSqlite(path: string): Promise<Engine> {
  refuseForeignFile(path);
  // A new folder is accessible only to its owner, because the file holds a company's entire business data.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  makePrivately(path);
  noteOurs(path);
  const writer = await openWriter(path);
  const reader = await openReader(path);
  const refuseMoved = createPlaceCheck(path);
  const writes = openKysely(new WriteAdapter(), new ImmediateDriver(writer));
  const db = openKysely(new ReadAdapter(), new ReadDriver(reader, () => refuseMoved(PLACE_KNOWN_MS)));
  const version = createVersion(reader);
  const watchers = new Set<() => void>();
  const transaction: Engine['transaction'] = async (work) => {
    refuseMoved(0);
    const result = await writes.transaction().execute(work).catch(rethrow);
    for (const onNews of watchers) onNews();
    return result;
  };
  return {
    dialect: sqliteDialect,
    db,
    transaction,
    write: (statement) => transaction(async (open) => (await statement.execute(open)).rows),
    run: async (sql, parameters = []) =>
      (await writes.executeQuery<Record<string, unknown>>(CompiledQuery.raw(sql, [...parameters]))).rows,
    version,
    isDistributed: async () => false,
    answers: async () => void (await db.selectFrom('companies').select('id').limit(1).execute()),
    snapshot: async () => {
      const handle = await openReader(path);
      handle.exec('BEGIN');
      // The snapshot is fixed by the first read (sqlite.org/isolation.html).
      await whileBusy(() => handle.prepare('SELECT 1 FROM sqlite_schema').all());
      const moment = openKysely(new ReadAdapter(), new ReadDriver(handle, () => undefined));
      return {
        dialect: sqliteDialect,
        db: moment,
        async [Symbol.asyncDispose]() {
          await moment.destroy();
          if (handle.open) handle.close();
        },
      };
    },
    watchDeliveries: (onNews) => watchFile(version, watchers, onNews),
    async [Symbol.asyncDispose]() {
      // Kysely doesn't close handles that it hasn't used. The writer closes last, and so removes the log.
      await db.destroy();
      if (reader.open) reader.close();
      await writes.destroy();
      if (writer.open) writer.close();
    },
  };
}

async function openWriter(path: string): Promise<Database.Database> {
  const writer = openHandle(path, { readonly: false });
  // The first process switches to write-ahead mode under a lock, for which others may have to wait.
  await whileBusy(() => writer.pragma('journal_mode = WAL'));
  writer.pragma('synchronous = NORMAL');
  writer.pragma('foreign_keys = ON');
  // The last handle to close removes the log only if it is writable and has read the database.
  await whileBusy(() => writer.pragma('schema_version'));
  return writer;
}

async function openReader(path: string): Promise<Database.Database> {
  const reader = openHandle(path, { readonly: true });
  await whileBusy(() => reader.pragma(`cache_size = -${READER_CACHE_KIB}`));
  return reader;
}

function openHandle(path: string, options: { readonly: boolean }): Database.Database {
  // No memory mapping: it doesn't speed up reads, and the process would seem to occupy the file's size in memory.
  return new Database(path, { ...options, timeout: 0 });
}

/** Returns a function that reads SQLite's count of other handles' commits (sqlite.org/pragma.html#pragma_data_version). */
function createVersion(reader: Database.Database): () => number | undefined {
  const statement = reader.prepare('PRAGMA data_version').pluck();
  return () => {
    try {
      // The pragma returns a single number.
      return statement.get() as number;
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw error;
    }
  };
}

/** Calls back after commits: at once after this process's own, and after polling the file's version for those of others. */
function watchFile(
  version: () => number | undefined,
  watchers: Set<() => void>,
  onNews: () => void,
): AsyncDisposable {
  // Wrapped, because the same function may be registered twice.
  const watcher = () => onNews();
  watchers.add(watcher);
  let last = version();
  const timer = setInterval(() => {
    try {
      const now = version();
      if (now !== last) onNews();
      last = now;
    } catch {
      // An error thrown here would end the process. The caller polls too, and reports errors.
    }
  }, WATCH_MS);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      watchers.delete(watcher);
    },
  };
}

/**
 * SQL compiler that hides parameter values from the planner, to keep a prepared plan. The driver's SQLite plans by samples
 * (SQLITE_ENABLE_STAT4), so after ANALYZE it would plan a statement again at each call with new values. In three parallel
 * runs, a page of 50 took 1.32, 1.33 and 1.81 times as much processor time. A plus sign doesn't change the value.
 */
class SteadyCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return '+?';
  }
}

/** Kysely's adapter with a connection's dialect, which `dialectOf` returns. */
class WriteAdapter extends SqliteAdapter {
  readonly dialect = sqliteDialect;
}

class ReadAdapter extends WriteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

function openKysely(adapter: SqliteAdapter, driver: Driver): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => driver,
      createIntrospector: (kysely) => new SqliteIntrospector(kysely),
      createQueryCompiler: () => new SteadyCompiler(),
    },
  });
}

/** Kysely driver that lets all readers use one connection at once, where Kysely's own would make them queue for it. */
class ReadDriver extends SqliteDriver {
  readonly #connection: DatabaseConnection;

  /** Creates the driver. @param check throws if the file must no longer be read. */
  constructor(reader: Database.Database, check: () => void) {
    super({ database: reader });
    const { prepare } = rememberStatements(reader);
    this.#connection = {
      async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
        check();
        // The query builder's type gives the selected columns.
        const read = () => ({ rows: prepare(sql).all(...parameters) as Row[] });
        try {
          return read();
        } catch (error) {
          // `whileBusy` is needed only if the database was locked.
          if (!isBusy(error)) throw error;
          return whileBusy(read);
        }
      },
      streamQuery() {
        throw new Error('Batches take the place of streams.');
      },
    };
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }
}

/** Kysely driver that takes the write lock when a transaction begins, so that none fails half-way for lack of it. */
class ImmediateDriver extends SqliteDriver {
  readonly #writer: Database.Database;

  constructor(writer: Database.Database) {
    super({ database: rememberStatements(writer) });
    this.#writer = writer;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await whileBusy(() => connection.executeQuery(CompiledQuery.raw('BEGIN IMMEDIATE')));
  }

  /** Rolls back unless SQLite already has, as on a full disk; a second rollback would fail and hide the reason. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#writer.inTransaction) await super.rollbackTransaction(connection);
  }
}

/** Returns a database that caches prepared statements. Their number is bounded by the program's own SQL and by a limit. */
function rememberStatements(database: Database.Database): Pick<Database.Database, 'prepare' | 'close'> {
  const statements = new Map<string, Database.Statement>();
  const limit = 500;
  return {
    prepare: ((sql: string) => {
      let statement = statements.get(sql);
      if (!statement) {
        if (statements.size >= limit) statements.clear();
        statement = database.prepare(sql);
        statements.set(sql, statement);
      }
      return statement;
    }) as Database.Database['prepare'],
    close: () => database.close(),
  };
}

/** Returns the result of `statement`, which is retried while another process holds a lock that it needs. */
async function whileBusy<T>(statement: () => T | Promise<T>): Promise<T> {
  let deadline: number | undefined;
  for (;;) {
    try {
      return await statement();
    } catch (error) {
      if (!isBusy(error)) throw error;
      deadline ??= performance.now() + BUSY_MS_MAX;
      if (performance.now() > deadline) throw unavailable({ cause: error });
      await sleep(BUSY_PAUSE_MS);
    }
  }
}

/** Rethrows an error, as `unavailable` for a full or failing disk, an inaccessible file or lack of memory. */
function rethrow(error: unknown): never {
  const isOfSystem =
    error instanceof Database.SqliteError && /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|NOMEM)/.test(error.code);
  throw isOfSystem ? unavailable({ cause: error }) : error;
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code);
}
