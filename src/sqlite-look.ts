import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** SQLite's connection class. It isn't imported, so that a Node without it gets as far as the error that refuses it. */
export const { DatabaseSync } = process.getBuiltinModule('node:sqlite');

/**
 * Reads a SQLite file that may be another program's, without leaving a trace: as `immutable`, SQLite takes no lock, replays
 * no journal and creates no file beside it (sqlite.org/uri.html#uriimmutable). A log beside the file is read only if the file
 * alone has no tables. A process that has the file open must not call this: closing the file again drops its locks
 * (sqlite.org/howtocorrupt.html section 2.2).
 * @returns the tables and views, and all rows of `rowsOf` if it is one of them; undefined if only a writer can tell.
 * @throws SQLite's error if the file isn't a database.
 */
export function lookInto(path: string, rowsOf = ''): { tables: string[]; rows: unknown[] } | undefined {
  const hasLog = ['-wal', '-journal'].some(
    (end) => statSync(`${path}${end}`, { throwIfNoEntry: false })?.size,
  );
  const url = pathToFileURL(path);
  url.search = 'immutable=1';
  try {
    const found = read(url, rowsOf);
    if (!hasLog || found.tables.length > 0) return found;
  } catch (error) {
    // SQLITE_NOTADB, under the name that the other driver uses. Other errors may come from a page that is being written.
    if ((error as { errcode?: number }).errcode === 26 && !hasLog)
      throw Object.assign(error as Error, { code: 'SQLITE_NOTADB' });
  }
  try {
    return read(path, rowsOf);
  } catch {
    return undefined;
  }
}

function read(file: string | URL, rowsOf: string) {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database
      .prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'")
      .all()
      .map(({ name }) => String(name));
    return { tables, rows: tables.includes(rowsOf) ? database.prepare(`SELECT * FROM ${rowsOf}`).all() : [] };
  } finally {
    database.close();
  }
}
