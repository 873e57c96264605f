import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** Isn't imported: a Node that has no such module has to come as far as the sentence that refuses it. */
export const { DatabaseSync } = process.getBuiltinModule('node:sqlite');

/**
 * Looks into a SQLite file that may be another program's, and leaves no trace: as `immutable`, SQLite takes no lock, plays no
 * journal back and makes no file beside it (sqlite.org/uri.html#uriimmutable). A log beside the file is read only where the
 * file alone has no tables. A process that has the file open mustn't look: closing it once more takes its locks away
 * (sqlite.org/howtocorrupt.html section 2.2).
 * @returns its tables and views, and all rows of one of them, if one is named; undefined when only a program that may write can tell.
 * @throws SQLite's error when it isn't a database.
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
    // SQLITE_NOTADB, by the name that the other driver gives it. Anything else may come of a page that is being written.
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
