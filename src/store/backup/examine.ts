import Database from 'better-sqlite3';

import { UsageError } from '../../errors.ts';
import { refuseOthers } from '../migrations/migrate.ts';

/**
 * Looks at a copy of a database that nobody else has open, and makes one file of it.
 * @param name what messages call it.
 * @throws UsageError when it isn't SQLite, is damaged, or isn't a database that this version can bring up to date.
 */
export function examineCopy(path: string, name: string): void {
  try {
    const database = new Database(path, { fileMustExist: true });
    try {
      // A database in write-ahead mode can't be opened where nothing may be written beside it.
      database.pragma('journal_mode = DELETE');
      const found = database.pragma('quick_check(1)', { simple: true });
      if (found !== 'ok') throw new UsageError(`${name} is damaged: ${String(found)}.`);
      refuseOthers(migrationsOf(database), name);
    } finally {
      database.close();
    }
  } catch (error) {
    throw isDamage(error) ? new UsageError(`${name} is damaged: ${error.message}.`) : error;
  }
}

function migrationsOf(database: Database.Database): string[] {
  const columns = database.pragma("table_info('migrations')") as { name: string }[];
  if (!columns.some(({ name }) => name === 'name')) return [];
  return database.prepare('SELECT name FROM migrations').pluck().all().map(String);
}

/** Whether an error says that a SQLite file isn't as SQLite left it. */
export function isDamage(error: unknown): error is Error {
  return error instanceof Database.SqliteError && /^SQLITE_(?:CORRUPT|NOTADB)/.test(error.code);
}
