import type Database from 'better-sqlite3';

import type { Administration, SchemaObject } from '../dialects/administration.ts';
import { sqliteAdministration } from '../dialects/sqlite-administration.ts';
import type { Engine } from '../engines/engine.ts';
import { FIRST_MIGRATION } from '../foreign.ts';
import { partOf, createTableStatements } from '../tables/table.ts';
import { allTables } from '../tables/tables.ts';
import { CREATE_MIGRATIONS, migrations } from './migrate.ts';

/**
 * Returns the differences between a database's schema and the result of its migrations. It changes nothing.
 * @returns part of a sentence for each difference.
 */
export async function schemaDifferences(engine: Engine): Promise<string[]> {
  const { administration } = engine.dialect;
  const applied = (await engine.run('SELECT name FROM migrations')).map(({ name }) => String(name));
  return differences((await engine.run(administration.schemaObjects)) as never[], administration, applied);
}

/** Returns the differences between a SQLite file's schema and the result of the given migrations. */
export function fileDifferences(database: Database.Database, applied: readonly string[]): string[] {
  const found = database.prepare<[], SchemaObject>(sqliteAdministration.schemaObjects).all();
  return differences(found, sqliteAdministration, applied);
}

/** Matches tables of SQLite's ANALYZE and of Litestream, which hold none of our rows. */
const OTHERS = /^table (?:sqlite_stat[1-4]|_litestream_(?:seq|lock))$/;

function differences(
  found: readonly SchemaObject[],
  administration: Administration,
  applied: readonly string[],
): string[] {
  // The baseline's tables are those of today, which an older database doesn't all have.
  const later = migrations.flatMap(({ name, adds = [] }) => (applied.includes(name) ? [] : adds));
  const isLater = (table: string, part: string) =>
    later.some(({ name, columns, indexes = {} }) => name === table && part in { ...columns, ...indexes });
  const tables = applied.includes(FIRST_MIGRATION) ? allTables : [];
  const statements = tables
    .map((table) => partOf(table, (part) => !isLater(table.name, part)))
    .filter(({ columns }) => Object.keys(columns).length > 0)
    .flatMap((table) => createTableStatements(table, administration.engine));
  const made = administration.objectsMadeBy([CREATE_MIGRATIONS, ...statements]);
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
  // A database lists its objects in no particular order.
  return [...foreign, ...missing.map((name) => `the ${name} is missing`)].toSorted();
}
