import { statSync } from 'node:fs';

import { UsageError } from '../../errors.ts';
import { lookInto } from '../../sqlite-look.ts';

/** The first migration of every database of ours. Other programs also have a table `migrations`. */
export const FIRST_MIGRATION = '0001-baseline';
/** The first one of databases from before release 1.0.0, with which all history begins. */
const BEFORE_HISTORY = '0001-access';

/** Files that were found to be ours, and that this process may have open. */
const ours = new Set<string>();

/** Notes that a file is ours. */
export function noteOurs(path: string): void {
  const { dev, ino, birthtimeMs } = statSync(path);
  ours.add(`${dev} ${ino} ${birthtimeMs}`);
}

/**
 * Looks into a SQLite file before anything changes it or what is beside it.
 * @throws UsageError when another program's tables are in it; SQLite's error when it isn't a database.
 */
export function refuseForeignFile(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats || (stats.isFile() && stats.size === 0)) return;
  // Opening a pipe would block.
  if (!stats.isFile()) throw Object.assign(new Error('unable to open database file'), { code: 'EINVAL' });
  if (ours.has(`${stats.dev} ${stats.ino} ${stats.birthtimeMs}`)) return;
  const { tables = [], rows = [] } = lookInto(path, 'migrations') ?? {};
  if (tables[0] !== undefined) refuseForeign(tables, rows);
}

/** @throws UsageError unless the rows of the table `migrations` are those of a database of ours. */
export function refuseForeign([table = 'migrations']: readonly string[], rows: readonly unknown[]): void {
  const names = rows.map((row) => (row as { name?: unknown }).name);
  if (names.includes(FIRST_MIGRATION)) return;
  if (names.includes(BEFORE_HISTORY))
    throw new UsageError(
      'The database was made before release 1.0.0, which reads none of these. Name an empty one.',
    );
  throw new UsageError(
    `The database isn't one of Fieldledger: it has the table ${table}. Name an empty one.`,
  );
}
