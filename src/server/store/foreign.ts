import { statSync } from 'node:fs';

import { UsageError } from '../../errors.ts';
import { lookInto } from '../../sqlite-look.ts';

/** The name of the first migration of every Fieldledger database. Other programs may also have a table `migrations`. */
export const FIRST_MIGRATION = '0001-baseline';
/** The name of the first migration of databases from before release 1.0.0, which are no longer supported. */
const BEFORE_HISTORY = '0001-access';

/** Identities of files (device, inode, time of creation) that are known to be Fieldledger databases and may be open here. */
const ours = new Set<string>();

/** Remembers a file as a Fieldledger database, so that it isn't inspected again. */
export function noteOurs(path: string): void {
  const { dev, ino, birthtimeMs } = statSync(path);
  ours.add(`${dev} ${ino} ${birthtimeMs}`);
}

/**
 * Refuses a SQLite file that isn't a Fieldledger database, before anything changes it or the files beside it.
 * @throws UsageError when it holds another program's tables; SQLite's error when it isn't a database.
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

/** Refuses a database whose table `migrations` belongs to another program. @throws UsageError. */
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
