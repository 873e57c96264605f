import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

import type { Engine } from './engine.ts';
import type { Tables } from './schema.ts';
import { compileStatement, slots } from './slots.ts';
import { writing } from './writing.ts';

const CONNECT_MS_MAX = 5_000;
/** No statement of the API runs this long unless the database is in trouble; better an error than a hang. */
const STATEMENT_MS_MAX = 15_000;
/** A database that has lost the network or its processor says nothing at all, and can't enforce a limit either. */
const SILENCE_MS_MAX = 1_000;

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
    statement_timeout: statementMsMax,
    query_timeout: statementMsMax === 0 ? 0 : statementMsMax + SILENCE_MS_MAX,
    application_name: 'fieldledger',
    types,
  });
  // A connection that breaks is replaced at its next use, and who uses it is told by the statement that fails. Without
  // a listener it would end the process: the pool's own is only for connections that nobody has taken.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  let statements = 0;
  const engine: Engine = {
    name: 'postgres',
    db,
    prepare(build, { isPlannedAnew = false } = {}) {
      const { sql, bind } = compileStatement(build(db, slots()));
      // Of a named statement PostgreSQL keeps a plan for whatever is bound later.
      const kept = isPlannedAnew ? {} : { name: `fieldledger_${++statements}` };
      return async (values) => {
        // The builder's type says what the statement selects.
        const { rows } = await pool.query({ ...kept, text: sql, values: bind(values) });
        return rows as never[];
      };
    },
    ...writing(db),
    async [Symbol.asyncDispose]() {
      await db.destroy();
    },
  };
  pools.set(engine, pool);
  return engine;
}
