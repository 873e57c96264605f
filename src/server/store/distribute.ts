import { UsageError } from '../../errors.ts';
import type { Engine } from './engines/engine.ts';
import { isOfCompanies } from './stored-tables.ts';
import { allTables } from './tables/tables.ts';

/**
 * Returns the SQL statements with which Citus distributes companies' tables, so that all rows of a company are on one
 * machine. The other tables stay on the coordinator. Each statement can run only once, on empty or filled tables, while
 * nobody uses the database; `verify` and `company list` show whether it worked.
 * @see https://docs.citusdata.com/en/stable/develop/api_udf.html
 */
export function distribution(): string[] {
  const spread = allTables.filter(
    (table) => isOfCompanies(table) && table.name !== 'companies' && !table.isOnEachMachine,
  );
  return [
    "SELECT create_distributed_table('companies', 'id')",
    ...spread.map(
      ({ name }) => `SELECT create_distributed_table('${name}', 'company', colocate_with => 'companies')`,
    ),
    ...allTables
      .filter(({ isOnEachMachine }) => isOnEachMachine)
      .map(({ name }) => `SELECT create_reference_table('${name}')`),
  ];
}

/**
 * Distributes the tables of an up-to-date database over the machines of Citus.
 * @returns the statements that were run; none if it was already distributed.
 * @throws UsageError for a database without Citus.
 */
export async function distribute(engine: Engine): Promise<string[]> {
  const isCitus =
    engine.dialect.name === 'postgres' &&
    (await engine.run("SELECT 1 FROM pg_extension WHERE extname = 'citus'")).length > 0;
  if (!isCitus)
    throw new UsageError(
      'The database has no Citus: as its superuser, run "CREATE EXTENSION citus" and add its machines first.',
    );
  const rows = await engine.run('SELECT CAST(logicalrelid AS TEXT) AS name FROM pg_dist_partition');
  const done = new Set(rows.map(({ name }) => `'${String(name)}'`));
  const statements = distribution().filter((text) => !done.has(/'\w+'/.exec(text)?.[0] ?? ''));
  for (const statement of statements) await engine.run(statement);
  return statements;
}
