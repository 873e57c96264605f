import Database from 'better-sqlite3';

import { UsageError } from '../../../errors.ts';
import { refuseOthers } from '../migrations/migrate.ts';
import { fileDifferences } from '../migrations/schema-check.ts';
import type { Tables } from '../tables/tables.ts';

/**
 * Checks a copy of a database that nobody else has open, and turns it into a single file.
 * @param name the copy's name in messages.
 * @throws UsageError when it isn't SQLite, is damaged, isn't a database that this version can bring up to date, or its
 *   schema differs from the result of its migrations.
 */
export function examineCopy(path: string, name: string): void {
  try {
    const database = new Database(path, { fileMustExist: true });
    try {
      // SQLite can't open a database in write-ahead mode in a read-only folder.
      database.pragma('journal_mode = DELETE');
      const found = database.pragma('quick_check(1)', { simple: true });
      if (found !== 'ok') throw new UsageError(`${name} is damaged: ${String(found)}.`);
      const rows = {
        migrations: rowsOf(database, 'migrations'),
        contracts: rowsOf(database, 'record_contracts'),
      };
      refuseOthers(rows, name);
      const applied = rows.migrations.map((row) => row.name);
      refuseDifferences(fileDifferences(database, applied), name);
      // A restored store gets a new generation (../records/generation.ts).
      if (hasTable(database, 'store_generation')) database.exec('DELETE FROM store_generation');
    } finally {
      database.close();
    }
  } catch (error) {
    throw isDamage(error) ? new UsageError(`${name} is damaged: ${error.message}.`) : error;
  }
}

const DIFFERENCES_SHOWN_MAX = 5;

/** Throws a UsageError that names the first differences of a schema, if there are any. */
export function refuseDifferences(found: readonly string[], name: string): void {
  if (found.length === 0) return;
  const more = found.length > DIFFERENCES_SHOWN_MAX ? '; and more' : '';
  throw new UsageError(
    `${name} has been changed by something else: ${found.slice(0, DIFFERENCES_SHOWN_MAX).join('; ')}${more}.`,
  );
}

interface Known {
  migrations: { name: string };
  record_contracts: Tables['record_contracts'];
}

function rowsOf<Name extends keyof Known>(database: Database.Database, table: Name): Known[Name][] {
  return hasTable(database, table) ? (database.prepare(`SELECT * FROM ${table}`).all() as Known[Name][]) : [];
}

function hasTable(database: Database.Database, name: string): boolean {
  return (
    database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined
  );
}

/** Whether an error reports that a SQLite file is damaged. */
export function isDamage(error: unknown): error is Error {
  return error instanceof Database.SqliteError && /^SQLITE_(?:CORRUPT|NOTADB)/.test(error.code);
}
