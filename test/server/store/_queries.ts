import {
  type CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  Kysely,
  type QueryResult,
} from 'kysely';

import { type Connection, type Dialect, dialectOf } from '../../../src/server/store/dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../../../src/server/store/engines/engine.ts';

/** Stands between a query and the database: `run` asks the database. */
type Around = (
  query: CompiledQuery,
  run: () => Promise<QueryResult<unknown>>,
) => Promise<QueryResult<unknown>>;

/** The same engine, whose queries go through a function: those of reads and those of transactions. */
export function withQueriesThrough(engine: Engine, around: Around): Engine {
  const transaction: Engine['transaction'] = (work) =>
    // It has all that the store asks of a transaction.
    engine.transaction((open) => work(connectionThrough(open, around) as unknown as StoreTransaction));
  return {
    ...engine,
    db: connectionThrough(engine.db, around),
    transaction,
    write: (statement) => transaction(async (open) => (await statement.execute(open)).rows),
  };
}

/** The same connection with another dialect: with other bounds, so that a test needs fewer records. */
export function withDialect(db: Connection, changed: Partial<Dialect>): Connection {
  const dialect = { ...dialectOf(db), ...changed };
  return connectionThrough(db, (_query, run) => run(), dialect);
}

function connectionThrough(db: Connection, around: Around, dialect = dialectOf(db)): Connection {
  const executor = db.getExecutor();
  const adapter = Object.create(executor.adapter, { dialect: { value: dialect } }) as DialectAdapter;
  const connection = {
    executeQuery: (query: CompiledQuery) => around(query, () => db.executeQuery(query)),
  } as DatabaseConnection;
  const nothing = async () => undefined;
  return new Kysely({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => ({
        init: nothing,
        acquireConnection: async () => connection,
        releaseConnection: nothing,
        beginTransaction: nothing,
        commitTransaction: nothing,
        rollbackTransaction: nothing,
        destroy: nothing,
      }),
      createIntrospector: () => db.introspection,
      createQueryCompiler: () => ({ compileQuery: (node, id) => executor.compileQuery(node, id) }),
    },
  });
}
