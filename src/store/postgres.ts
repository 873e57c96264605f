import {
  type DatabaseConnection,
  Kysely,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
} from 'kysely';
import pg from 'pg';

import type { Engine } from './engine.ts';
import { listenOnPostgres } from './notifications.ts';
import type { Tables } from './schema.ts';
import { compileStatement, slots } from './slots.ts';
import { unavailable } from './unavailable.ts';
import { writing } from './writing.ts';

const CONNECT_MS_MAX = 5_000;
/** No statement of the API runs this long unless the database is in trouble; better an error than a hang. */
const STATEMENT_MS_MAX = 15_000;
/** A database that has lost the network or its processor says nothing at all, and can't enforce a limit either. */
const SILENCE_MS_MAX = 1_000;

/** The server that a pool of servers or a failover leads to may have changed meanwhile. */
const CONNECTION_SECONDS_MAX = 3_600;
const IDLE_MS_MAX = 600_000;

/** The pool behind an engine, for the counters that several processes share; undefined on SQLite. */
const pools = new WeakMap<Engine, pg.Pool>();

/** The connection pool of a PostgreSQL engine. */
export function poolOf(engine: Engine): pg.Pool | undefined {
  return pools.get(engine);
}

export interface PostgresOptions {
  poolMax?: number;
  /** How long a statement may take; 0 for as long as it takes. */
  statementMsMax?: number;
}

/** Opens a pool of connections to PostgreSQL. */
export function openPostgres(
  url: string,
  { poolMax = 10, statementMsMax = STATEMENT_MS_MAX }: PostgresOptions = {},
): Engine {
  // Records stay text: parsing them only to write them again is what storing text avoids.
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.JSON, (text) => text);
  const pool = new pg.Pool({
    connectionString: url,
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
  const db = new Kysely<Tables>({ dialect: new TellingDialect({ pool, onCreateConnection: tellOfLoss }) });
  const engine: Engine = {
    name: 'postgres',
    db,
    prepare(build) {
      const { sql, bind } = compileStatement(build(db, slots()));
      return async (values) => {
        // The builder's type says what the statement selects.
        const { rows } = await pool.query(sql, bind(values)).catch(tell);
        return rows as never[];
      };
    },
    ...writing(db),
    version: () => undefined,
    watchDeliveries: (onNews) => listenOnPostgres(url, onNews),
    async [Symbol.asyncDispose]() {
      await db.destroy();
      // Kysely leaves a pool alone that only reads have used.
      if (!pool.ending) await pool.end();
    },
  };
  pools.set(engine, pool);
  return engine;
}

/** A dialect whose units of work tell what made them fail first. */
class TellingDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig;

  constructor(config: PostgresDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): PostgresDriver {
    return new TellingDriver(this.#config);
  }
}

class TellingDriver extends PostgresDriver {
  override acquireConnection(...given: Parameters<PostgresDriver['acquireConnection']>) {
    return super.acquireConnection(...given).catch(tell);
  }

  /**
   * A connection that can't roll back any more is thrown away, by which the database rolls back; to throw what it
   * answered would hide why there was something to roll back.
   */
  override async rollbackTransaction(
    ...given: Parameters<PostgresDriver['rollbackTransaction']>
  ): Promise<void> {
    await super.rollbackTransaction(...given).catch(() => undefined);
  }
}

/** Kysely has no other place at which every statement passes. */
async function tellOfLoss(connection: DatabaseConnection): Promise<void> {
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = <Row>(...given: Parameters<typeof execute>) => execute<Row>(...given).catch(tell);
}

/** SQLSTATE of a lost connection, spent resources, an operator's or the system's doing, and of what may only be read. */
const UNUSABLE = /^(?:08|53|57|58)|^25006$/;

/** Throws on what PostgreSQL, or the way to it, refused: as `unavailable` when that isn't the statement's fault. */
function tell(error: unknown): never {
  // The database never answered an error that has no SQLSTATE.
  const isRefused = error instanceof pg.DatabaseError && !UNUSABLE.test(error.code ?? '');
  throw isRefused ? error : unavailable(error);
}
