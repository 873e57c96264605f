import { statSync } from 'node:fs';
import type { DatabaseSync as Connection } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

import { DatabaseSync, lookInto } from '../../sqlite-look.ts';
import { CopyError, type SyncState } from './sink.ts';

/** The time for which a batch or a reader waits while another program writes. */
const BUSY_MS = 5_000;

/**
 * Opens the very file: as an address, a name is never `:memory:` or one that SQLite would read as something else.
 * @param mode `rw` for a file that is there, `rwc` for one that may be made (sqlite.org/uri.html#recognized_query_parameters).
 */
export function openDatabase(path: string, mode: 'rw' | 'rwc'): Connection {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', mode);
  const db = new DatabaseSync(url);
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  return db;
}

/**
 * Opens the file of a copy.
 * @returns undefined where there is no file, or one without content: that of a first batch that was killed is, once SQLite
 *   has undone it.
 * @throws CopyError for what is no copy.
 */
export function openCopyFile(path: string): Connection | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isFile()) throw new CopyError(`${path} is no file.`);
  // An empty file is left over from a copy that was interrupted at its start.
  if (!stats || stats.size === 0) return undefined;
  // Nothing of another program's file is touched, nor what is beside it.
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

/** The tables that a copy keeps beside the records. */
export function keptIn(db: Connection): { source: string; revision: number; state: SyncState } {
  const kept = db.prepare('SELECT source, revision, state FROM fieldledger_copy').get();
  const { source, revision, state } = kept as { source: string; revision: number; state: string };
  return { source, revision, state: JSON.parse(state) as SyncState };
}
