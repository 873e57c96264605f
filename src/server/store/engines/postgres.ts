import { unavailable } from '../../../errors.ts';
import {
  CompiledQuery,
  Kysely,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  type PostgresPool,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import pg from 'pg';

import type { Dialect } from '../dialects/dialect.ts';
import { postgresDialect } from '../dialects/postgres.ts';
import type { Engine } from './engine.ts';
import { listenOnPostgres } from './notifications.ts';
import { openHosts, type PostgresHosts } from './postgres-hosts.ts';
import type { Tables } from '../tables/tables.ts';

const CONNECT_MS_MAX = 5_000;
/** No statement of the API runs this long unless the database is in trouble; better an error than a hang. */
const STATEMENT_MS_MAX = 15_000;
/** The client's own limit, for a database that doesn't answer at all. */
const SILENCE_MS_MAX = 1_000;

/** Connections end after this time, so that they follow a failover. */
const CONNECTION_SECONDS_MAX = 3_600;
const IDLE_MS_MAX = 600_000;

export interface PostgresOptions {
  poolMax?: number;
  /** The address for `LISTEN` where the other one leads to a pooler; it leads to the same database. */
  directUrl?: string | undefined;
  /** How long a statement may take; 0 for as long as it takes. */
  statementMsMax?: number;
}

/**
 * Opens a pool of connections to PostgreSQL, or to a pooler such as PgBouncer in transaction mode. There the next
 * transaction may have another session, so nothing relies on a session's state: no setting, no startup parameter, no name
 * of a statement (PgBouncer before 1.21 passes names on, and the next session doesn't know them, or has them already).
 */
export function openPostgres(
  url: string,
  { poolMax = 10, directUrl = url, statementMsMax = STATEMENT_MS_MAX }: PostgresOptions = {},
): Engine {
  // Records stay text: parsing them only to write them again is what storing text avoids.
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.JSON, (text) => text);
  const hosts = openHosts(url);
  const pool = new pg.Pool({
    Client: hosts.Client,
    max: poolMax,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: statementMsMax === 0 ? 0 : statementMsMax + SILENCE_MS_MAX,
    application_name: 'fieldledger',
    maxLifetimeSeconds: CONNECTION_SECONDS_MAX,
    idleTimeoutMillis: IDLE_MS_MAX,
    types,
  });
  // A connection that breaks is replaced at its next use, and who uses it is told by the statement that fails. Without
  // a listener it would end the process: the pool's own is only for connections that nobody has taken.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const dialect = { ...postgresDialect };
  let isConnected = false;
  const onFirst = async (client: pg.PoolClient) => {
    if (!isConnected) dialect.isDistributed = await isSpread(client);
    isConnected = true;
  };
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new OwnAdapter(dialect),
      createDriver: () => new BoundedDriver(tellingPool(pool, hosts, onFirst), statementMsMax),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return {
    dialect,
    db,
    transaction: (work) => db.transaction().execute(work),
    write: async (statement) => (await statement.execute(db)).rows,
    run: async (sql, parameters = []) =>
      (await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(sql, [...parameters]))).rows,
    version: () => undefined,
    snapshot: async () => ({ dialect, ...(await readMoment(db)) }),
    async isDistributed() {
      if (!isConnected) await sql`SELECT 1`.execute(db);
      return dialect.isDistributed;
    },
    watchDeliveries: (onNews) => listenOnPostgres(directUrl, onNews),
    async [Symbol.asyncDispose]() {
      await db.destroy();
      // Kysely doesn't end a pool that only reads have used.
      if (!pool.ending) await pool.end();
    },
  };
}

/** Begins a transaction that reads what was there at its first statement (postgresql.org, "Repeatable Read Isolation Level"). */
async function readMoment(database: Kysely<Tables>): Promise<{ db: Kysely<Tables> } & AsyncDisposable> {
  const db = await database.startTransaction().execute();
  const moment = {
    db,
    async [Symbol.asyncDispose]() {
      await db.rollback().execute();
    },
  };
  try {
    await sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`.execute(db);
    await sql`SELECT 1`.execute(db);
    return moment;
  } catch (error) {
    await moment[Symbol.asyncDispose]();
    throw error;
  }
}

/** Carries the dialect to the statements. */
class OwnAdapter extends PostgresAdapter {
  readonly dialect: Dialect;

  constructor(dialect: Dialect) {
    super();
    this.dialect = dialect;
  }
}

/** Citus has a list of the tables that are spread over machines (docs.citusdata.com, "pg_dist_partition"). */
async function isSpread(client: pg.PoolClient): Promise<boolean> {
  const { rows: lists } = await client.query("SELECT to_regclass('pg_catalog.pg_dist_partition') AS list");
  if ((lists as { list: string | null }[])[0]?.list === null) return false;
  const { rows } = await client.query(
    "SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('companies')",
  );
  return rows.length > 0;
}

class BoundedDriver extends PostgresDriver {
  readonly #begin: CompiledQuery;

  constructor(pool: PostgresPool, statementMsMax: number) {
    super({ pool });
    // Otherwise a statement that timed out here would go on in the database, with its locks.
    this.#begin = CompiledQuery.raw(`BEGIN; SET LOCAL statement_timeout = ${statementMsMax}`);
  }

  override async beginTransaction(...[connection]: Parameters<PostgresDriver['beginTransaction']>) {
    await connection.executeQuery(this.#begin);
  }

  /** Ignores its error, which would hide the reason for the rollback. */
  override async rollbackTransaction(...given: Parameters<PostgresDriver['rollbackTransaction']>) {
    await super.rollbackTransaction(...given).catch(() => undefined);
  }
}

/**
 * The pool as Kysely takes connections from it. A connection on which a statement could not be made is thrown away, by which
 * the database rolls back: the statement may still be under way, and the next one would wait for it.
 */
function tellingPool(
  pool: pg.Pool,
  hosts: PostgresHosts,
  onFirst: (client: pg.PoolClient) => Promise<void>,
): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await hosts.connect(() => pool.connect()).catch(rethrow);
      await onFirst(client).catch((error: unknown) => {
        client.release(true);
        return rethrow(error);
      });
      let isLost = false;
      const query = async (sql: string, parameters: readonly unknown[]) => {
        if (isLost) throw new Error('The connection was lost by an earlier statement.');
        try {
          return await client.query(sql, [...parameters]);
        } catch (error) {
          isLost = !isRefusal(error) && !isOfRemote(error);
          return rethrow(error);
        }
      };
      // Kysely's types leave the rows to its caller, as pg's do.
      return { query: query as never, release: () => client.release(isLost) };
    },
  };
}

/** SQLSTATE of a lost connection, spent resources, an operator's or the system's doing, and of what may only be read. */
const UNUSABLE = /^(?:08|53|57|58)|^25006$/;

/** Whether the database has answered, and the fault is the statement's. One that it never answered has no SQLSTATE. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !UNUSABLE.test(error.code ?? '');
}

/** Whether a machine behind Citus's coordinator is away, to which the connection leads. */
function isOfRemote(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code?.startsWith('08') === true && error.code !== '08P01';
}

/** Rethrows an error of PostgreSQL or of the connection, as `unavailable` unless it is the statement's fault. */
function rethrow(error: unknown): never {
  throw isRefusal(error) ? error : unavailable({ cause: error });
}
