import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import Database from 'better-sqlite3';

import { UsageError } from '../../../errors.ts';
import { makePrivately } from './sqlite-file.ts';

/**
 * Locks a SQLite file for serving, because two servers would count requests separately. It locks a second, empty database
 * beside the file, and releases the lock when disposed of; the system releases it if the process dies. PostgreSQL needs
 * no lock, and allows any number of servers.
 * @throws UsageError when another process holds the lock.
 */
export function lockServing(databaseUrl: string): Disposable {
  if (!databaseUrl.startsWith('sqlite:')) return { [Symbol.dispose]: () => undefined };
  const path = `${realPathOf(databaseUrl.slice('sqlite:'.length))}-serving`;
  makePrivately(path);
  const lock = new Database(path, { timeout: 0 });
  try {
    // Nothing is written, so the lock file needs no journal on disk.
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

/** Returns a path with links resolved, so that all its names give one lock. A missing file is resolved by its folder. */
function realPathOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
}
