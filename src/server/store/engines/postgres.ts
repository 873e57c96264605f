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
/** No statement of the API runs this long unless the database is in trouble; better an error than a hang. */
const STATEMENT_MS_MAX = 15_000;
/** The client's own limit, for a database that doesn't answer at all. */
const SILENCE_MS_MAX = 1_000;

/** Less than a load balancer waits. */
const ANSWER_MS_MAX = 900;

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
      // Kysely doesn't end a pool that only reads have used.
      if (!pool.ending) await pool.end();
    },
  };
}

function openPool(hosts: PostgresHosts, max: number, statementMsMax: number): pg.Pool {
  // Records stay text: parsing them only to write them again is what storing text avoids.
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
  // A connection that breaks is replaced at its next use, and who uses it is told by the statement that fails. Without
  // a listener it would end the process: the pool's own is only for connections that nobody has taken.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

const ping = async (client: pg.Client): Promise<void> => void (await client.query('SELECT 1'));

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

/** The pool as Kysely takes connections from it. Where there are several machines, a statement takes one for its own. */
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
 * A connection on which a statement could not be made is thrown away, by which the database rolls back: the statement may still
 * be under way, and the next one would wait for it.
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

/** A connection that is taken, and a transaction that is begun, with the first statement that says of which company it is. */
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
        // It may come after all, and nobody would give it back.
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
  throw isRefusal(error) || error instanceof AppError ? error : unavailable({ cause: error });
}
