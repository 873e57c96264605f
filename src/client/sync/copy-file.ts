import { statSync } from 'node:fs';
import type { DatabaseSync as Connection } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

import { DatabaseSync, lookInto } from '../../sqlite-look.ts';
import { CopyError, type SyncState } from './sink.ts';

/** The milliseconds that a batch or a reader waits for another program to finish writing. */
const BUSY_MS = 5_000;

/**
 * Opens a database by URL, because SQLite gives some plain file names a special meaning, such as `:memory:`.
 * @param mode `rw` for an existing file, `rwc` to create a missing one (sqlite.org/uri.html#recognized_query_parameters).
 */
export function openDatabase(path: string, mode: 'rw' | 'rwc'): Connection {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', mode);
  const db = new DatabaseSync(url);
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  return db;
}

/**
 * Opens the SQLite file that holds a copy of a company's records.
 * @returns undefined if the file is missing or empty. A file is also empty once SQLite has rolled back an interrupted first
 * batch.
 * @throws CopyError if the file isn't a copy.
 */
export function openCopyFile(path: string): Connection | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isFile()) throw new CopyError(`${path} is not a file.`);
  // An empty file is left over from a copy that was interrupted at the start.
  if (!stats || stats.size === 0) return undefined;
  // Another program's file, and the files beside it, must stay untouched.
  const { tables = [] } = lookInto(path) ?? {};
  if (tables.length > 0 && !tables.includes('fieldledger_copy'))
    throw new CopyError(`${path} is a database of another program. Name another file.`);
  const db = openDatabase(path, 'rw');
  let hasContent = false;
  try {
    hasContent = db.prepare('SELECT 1 FROM sqlite_schema').get() !== undefined;
    return hasContent ? db : undefined;
  } finally {
    if (!hasContent) db.close();
  }
}

/** Returns the source, revision and sync state that a copy stores beside its records. */
export function readCopyMetadata(db: Connection): { source: string; revision: number; state: SyncState } {
  const kept = db.prepare('SELECT source, revision, state FROM fieldledger_copy').get();
  const { source, revision, state } = kept as { source: string; revision: number; state: string };
  return { source, revision, state: JSON.parse(state) as SyncState };
}
