import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import Database from 'better-sqlite3';

import { UsageError } from '../../../errors.ts';
import { makePrivately } from './sqlite-file.ts';

/**
 * Takes the right to serve a SQLite file, which one server has at a time: two would count requests apart. The lock of
 * a second, empty database beside it is let go of when disposed of, and by the system when the process dies, however.
 * PostgreSQL serves any number.
 * @throws UsageError when another process has it.
 */
export function lockServing(databaseUrl: string): Disposable {
  if (!databaseUrl.startsWith('sqlite:')) return { [Symbol.dispose]: () => undefined };
  const path = `${realPathOf(databaseUrl.slice('sqlite:'.length))}-serving`;
  makePrivately(path);
  const lock = new Database(path, { timeout: 0 });
  try {
    // Nothing is written, so it needs no journal.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (!(error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))) throw error;
    throw new UsageError(
      `Another process serves, copies or restores the database ${databaseUrl}, and a SQLite file has one at a time. Stop that one, or use PostgreSQL.`,
    );
  }
  return { [Symbol.dispose]: () => lock.close() };
}

/** A file is one database under each of its names. One that isn't there yet will lie in this folder. */
function realPathOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
}
