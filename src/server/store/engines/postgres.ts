import { AppError, unavailable } from '../../../errors.ts';
import {
  CompiledQuery,
  Kysely,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  type PostgresPool,
  type PostgresPoolClient,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import pg from 'pg';

import type { Dialect } from '../dialects/dialect.ts';
import { postgresDialect } from '../dialects/postgres.ts';
import type { Engine } from './engine.ts';
import { listenOnPostgres } from './notifications.ts';
import { type Lane, MachinePools } from './machine-pools.ts';
import { onOwnConnection, openHosts, type PostgresHosts } from './postgres-hosts.ts';
import type { Tables } from '../tables/tables.ts';

const CONNECT_MS_MAX = 5_000;
/** Statement timeout in milliseconds, longer than any healthy API statement: an error is better than a hang. */
const STATEMENT_MS_MAX = 15_000;
/** Additional milliseconds that the client waits for a database that doesn't answer at all. */
const SILENCE_MS_MAX = 1_000;

/** Timeout of the readiness check in milliseconds, shorter than a load balancer's. */
const ANSWER_MS_MAX = 900;

/** Maximum age of a connection in seconds, so that connections follow a failover. */
const CONNECTION_SECONDS_MAX = 3_600;
const IDLE_MS_MAX = 600_000;

export interface PostgresOptions {
  poolMax?: number;
  /** The database's own address for `LISTEN`, if the main address is that of a pooler. */
  directUrl?: string | undefined;
  /** Statement timeout in milliseconds; 0 for none. */
  statementMsMax?: number;
}

/**
 * Opens a pool of connections to PostgreSQL, or to a pooler such as PgBouncer in transaction mode. With a pooler the next
 * transaction may get another session, so nothing relies on session state: no settings, startup parameters or statement
 * names (PgBouncer before 1.21 passes names on, and the next session doesn't know them, or has them already).
 */
export function openPostgres(
  url: string,
  { poolMax = 10, directUrl = url, statementMsMax = STATEMENT_MS_MAX }: PostgresOptions = {},
): Engine {
  const hosts = openHosts(url);
  const createPool = () => openPool(hosts, poolMax, statementMsMax);
  const pool = createPool();
  const dialect = { ...postgresDialect };
  let isConnected = false;
  let machines: MachinePools | undefined;
  const onFirst = async (client: pg.PoolClient) => {
    if (isConnected) return;
    dialect.isDistributed = await isSpread(client);
    isConnected = true;
    if (dialect.isDistributed) machines = new MachinePools(hosts, pool, createPool);
  };
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new OwnAdapter(dialect),
      createDriver: () =>
        new BoundedDriver(tellingPool(pool, hosts, { onFirst, machines: () => machines }), statementMsMax),
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
    get machines() {
      return machines;
    },
    answers: () =>
      onOwnConnection(hosts, ANSWER_MS_MAX, { name: 'fieldledger-ready', work: ping }).catch(rethrow),
    watchDeliveries: (onNews) => listenOnPostgres(directUrl, onNews),
    async [Symbol.asyncDispose]() {
      await db.destroy();
      await machines?.end();
      // Kysely doesn't end a pool that was used only for reads.
      if (!pool.ending) await pool.end();
    },
  };
}

function openPool(hosts: PostgresHosts, max: number, statementMsMax: number): pg.Pool {
  // Records stay as text, because storing text avoids parsing and serialising them again.
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.JSON, (text) => text);
  const pool = new pg.Pool({
    Client: hosts.Client,
    max,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: statementMsMax === 0 ? 0 : statementMsMax + SILENCE_MS_MAX,
    application_name: 'fieldledger',
    maxLifetimeSeconds: CONNECTION_SECONDS_MAX,
    idleTimeoutMillis: IDLE_MS_MAX,
    types,
  });
  // A broken connection is replaced at its next use, and its current user sees the failing statement. Without these
  // listeners it would end the process, because the pool itself listens only to idle connections.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

const ping = async (client: pg.Client): Promise<void> => void (await client.query('SELECT 1'));

/** Opens a transaction with a snapshot as of its first statement (postgresql.org, "Repeatable Read Isolation Level"). */
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

/** Kysely's adapter with a connection's dialect, which `dialectOf` returns. */
class OwnAdapter extends PostgresAdapter {
  readonly dialect: Dialect;

  constructor(dialect: Dialect) {
    super();
    this.dialect = dialect;
  }
}

/** Whether Citus lists `companies` as a distributed table (docs.citusdata.com, "pg_dist_partition"). */
async function isSpread(client: pg.PoolClient): Promise<boolean> {
  const { rows: lists } = await client.query("SELECT to_regclass('pg_dist_partition') AS list");
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
    // Otherwise a statement that timed out on the client would go on in the database, holding its locks.
    this.#begin = CompiledQuery.raw(`BEGIN; SET LOCAL statement_timeout = ${statementMsMax}`);
  }

  override async beginTransaction(...[connection]: Parameters<PostgresDriver['beginTransaction']>) {
    await connection.executeQuery(this.#begin);
  }

  /** Rolls back, ignoring any error, because it would hide the reason for the rollback. */
  override async rollbackTransaction(...given: Parameters<PostgresDriver['rollbackTransaction']>) {
    await super.rollbackTransaction(...given).catch(() => undefined);
  }
}

/** Returns the pool in Kysely's form. With several machines, connections come from the pool of the statement's machine. */
function tellingPool(
  pool: pg.Pool,
  hosts: PostgresHosts,
  given: { onFirst: (client: pg.PoolClient) => Promise<void>; machines: () => MachinePools | undefined },
): PostgresPool {
  const open = async (from: pg.Pool) => {
    const client = await hosts.connect(() => from.connect()).catch(rethrow);
    await given.onFirst(client).catch((error: unknown) => {
      client.release(true);
      return rethrow(error);
    });
    return client;
  };
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const machines = given.machines();
      if (machines) return takenLater(machines, open);
      return telling(await open(pool));
    },
  };
}

/**
 * Returns a connection that is closed after any error that isn't the statement's fault, which makes the database roll back.
 * The statement may still be running, and the next one would have to wait for it.
 * @param within waits for an answer.
 */
function telling(
  client: pg.PoolClient,
  within: <T>(answer: Promise<T>) => Promise<T> = async (answer) => answer,
): PostgresPoolClient {
  let isLost = false;
  const query = async (sql: string, parameters: readonly unknown[]) => {
    if (isLost) throw new Error('The connection was lost by an earlier statement.');
    try {
      return await within(client.query(sql, [...parameters]));
    } catch (error) {
      isLost = !isRefusal(error) && !isOfRemote(error);
      return rethrow(error);
    }
  };
  // Kysely's types leave the rows to its caller, as pg's do.
  return { query: query as never, release: () => client.release(isLost) };
}

/** Returns a connection that is opened, and begins its transaction, at the first statement, which shows its company. */
function takenLater(
  machines: MachinePools,
  open: (pool: pg.Pool) => Promise<pg.PoolClient>,
): PostgresPoolClient {
  let begin: string | undefined;
  let taken: Promise<PostgresPoolClient> | undefined;
  const take = async (lane: Lane) => {
    const within = async <T>(answer: Promise<T>) => machines.within(lane, answer);
    const opening = open(lane.pool);
    const client = telling(
      await within(opening).catch((error: unknown) => {
        // The connection may still open later, and nobody else would release it.
        opening.then(
          (late) => late.release(true),
          () => undefined,
        );
        return rethrow(error);
      }),
      within,
    );
    if (begin === undefined) return client;
    try {
      await client.query(begin, []);
      return client;
    } catch (error) {
      client.release();
      throw error;
    }
  };
  const query = async (sql: string, parameters: readonly unknown[]) => {
    if (!taken && /^(?:begin|commit|rollback)/i.test(sql)) {
      begin = /^begin/i.test(sql) ? sql : undefined;
      return { command: 'BEGIN', rowCount: 0, rows: [] };
    }
    taken ??= machines.laneFor(sql, parameters).then(take).catch(rethrow);
    return (await taken).query(sql, parameters);
  };
  const release = () =>
    void taken?.then(
      (client) => client.release(),
      () => undefined,
    );
  return { query: query as never, release };
}

/** Matches SQLSTATEs of lost connections, exhausted resources, operator intervention, system errors, read-only sessions. */
const UNUSABLE = /^(?:08|53|57|58)|^25006$/;

/** Whether an error means that the database refused the statement itself. Without an answer there is no SQLSTATE. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !UNUSABLE.test(error.code ?? '');
}

/** Whether the coordinator reports that one of its Citus machines is down, while its own connection is intact. */
function isOfRemote(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code?.startsWith('08') === true && error.code !== '08P01';
}

/** Rethrows an error from PostgreSQL or the connection, as `unavailable` unless the statement is at fault. */
function rethrow(error: unknown): never {
  throw isRefusal(error) || error instanceof AppError ? error : unavailable({ cause: error });
}
