import Database from 'better-sqlite3';

import type { Engine } from '../engines/engine.ts';
import { CREATE_MIGRATIONS, dialects, migrations } from './migrate.ts';

/** A table, an index, a trigger, a view or the like, and what defines it. */
interface SchemaObject {
  type: string;
  name: string;
  definition: string | null;
}

/**
 * Compares a database's schema with what its migrations make: a trigger or a view of somebody else can undo what we write, and
 * lie about it. It changes nothing.
 * @returns a sentence's part for each difference.
 */
export async function schemaDifferences(engine: Engine): Promise<string[]> {
  const applied = (await engine.run('SELECT name FROM migrations')).map(({ name }) => String(name));
  const found = await engine.run(engine.dialect.name === 'sqlite' ? ON_SQLITE : ON_POSTGRES);
  return differences(
    found as never[],
    (engine.dialect.name === 'sqlite' ? madeOnSqlite : madeOnPostgres)(applied),
  );
}

/** The same for a SQLite file with these migrations. */
export function fileDifferences(database: Database.Database, applied: readonly string[]): string[] {
  return differences(database.prepare<[], SchemaObject>(ON_SQLITE).all(), madeOnSqlite(applied));
}

/** Tables that SQLite's ANALYZE and Litestream make; no rows of ours are in them. */
const OTHERS = /^table (?:sqlite_stat[1-4]|_litestream_(?:seq|lock))$/;

function differences(found: readonly SchemaObject[], made: readonly SchemaObject[]): string[] {
  const texts = (objects: readonly SchemaObject[]) =>
    new Map(
      objects.map(({ type, name, definition }) => [
        `${type} ${name}`,
        (definition ?? '').replaceAll(/\s+/g, ' ').trim(),
      ]),
    );
  const [present, expected] = [texts(found), texts(made)];
  const foreign = [...present].flatMap(([name, text]) => {
    if (OTHERS.test(name) || expected.get(name) === text) return [];
    return `the ${name} isn't ${expected.has(name) ? 'as Fieldledger makes it' : "Fieldledger's"}`;
  });
  const missing = [...expected.keys()].filter((name) => !present.has(name));
  // A database tells its objects in no order.
  return [...foreign, ...missing.map((name) => `the ${name} is missing`)].toSorted();
}

const ON_SQLITE = 'SELECT type, name, sql AS definition FROM sqlite_schema';

function madeOnSqlite(applied: readonly string[]): SchemaObject[] {
  const database = new Database(':memory:');
  try {
    database.exec(CREATE_MIGRATIONS);
    for (const statement of statementsOf('sqlite', applied)) database.exec(statement);
    return database.prepare<[], SchemaObject>(ON_SQLITE).all();
  } finally {
    database.close();
  }
}

function statementsOf(engine: Engine['dialect']['name'], applied: readonly string[]): string[] {
  return migrations
    .filter(({ name }) => applied.includes(name))
    .flatMap(({ statements }) => statements(dialects[engine]));
}

/**
 * Finds everything that can act on rows by itself, or stand in for a table, but for what extensions bring. Only a superuser
 * could make all tables anew to compare them, and not on a standby.
 */
const ON_POSTGRES = `
  WITH ours AS (SELECT oid, relname, relkind, relrowsecurity FROM pg_class AS c WHERE relnamespace = to_regnamespace(current_schema())
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e'))
  SELECT CASE WHEN relkind IN ('r', 'p') THEN 'table' WHEN relkind = 'f' THEN 'foreign table' ELSE 'view' END AS type,
    relname AS name, CASE WHEN relrowsecurity THEN 'row security' END AS definition
  FROM ours WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
  UNION ALL
  SELECT 'trigger', tgname || ' on ' || relname, pg_get_triggerdef(t.oid, TRUE)
    || CASE tgenabled WHEN 'O' THEN '' ELSE ' switched off or always on' END
  FROM pg_trigger AS t JOIN ours ON ours.oid = tgrelid WHERE NOT tgisinternal OR tgenabled <> 'O'
  UNION ALL
  SELECT 'rule', rulename || ' on ' || relname, '' FROM pg_rewrite JOIN ours ON ours.oid = ev_class WHERE rulename <> '_RETURN'
  UNION ALL
  SELECT 'policy', polname || ' on ' || relname, '' FROM pg_policy JOIN ours ON ours.oid = polrelid
  UNION ALL
  SELECT 'function', proname, CASE WHEN prosecdef THEN 'SECURITY DEFINER ' ELSE '' END || prosrc
  FROM pg_proc AS p WHERE pronamespace = to_regnamespace(current_schema())
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')`;

/** PostgreSQL keeps the texts of functions as they are, and writes those of triggers as our migrations do. */
function madeOnPostgres(applied: readonly string[]): SchemaObject[] {
  const made = new Map<string, SchemaObject>();
  for (const statement of [CREATE_MIGRATIONS, ...statementsOf('postgres', applied)]) {
    const [, verb, kind, word] =
      /^\s*(CREATE|DROP)(?: UNLOGGED)? (TABLE|TRIGGER|FUNCTION)(?: IF NOT EXISTS)? (\w+)/.exec(statement) ??
      [];
    if (kind === undefined || word === undefined) continue;
    const type = kind.toLowerCase();
    const name = type === 'trigger' ? `${word} on ${/ ON (\w+)/.exec(statement)?.[1]}` : word;
    if (verb === 'DROP') made.delete(`${type} ${name}`);
    else made.set(`${type} ${name}`, { type, name, definition: definitionOf(type, statement) });
  }
  return [...made.values()];
}

function definitionOf(type: string, statement: string): string | null {
  if (type !== 'function') return type === 'trigger' ? statement : null;
  const secured = statement.includes('SECURITY DEFINER') ? 'SECURITY DEFINER ' : '';
  return `${secured}${/\$\$(.*)\$\$/s.exec(statement)?.[1]}`;
}
