import { closeSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import Database from 'better-sqlite3';

import { quote, UsageError } from '../../../errors.ts';
import { refuseForeignFile } from '../foreign.ts';
import { examineCopy } from './examine.ts';
import { beginFile, isFilePath } from '../../../command-line/unfinished-file.ts';

/** Progress and cancellation of a copy. Sizes are in bytes. */
export interface CopyOptions {
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
}

/** Number of pages that are copied without a pause: 4 MB, which take a few milliseconds. Signals are noticed in between. */
const PAGES_AT_ONCE = 1_000;
const BUSY_MS_MAX = 5_000;
/** Maximum bytes by which the database's log may grow during a backup, so that the backup can't fill the disk. */
const LOG_BYTES_MAX = 4_000_000_000;
/** Suffixes of the files of a database; the empty one is that of the database itself. */
const COMPANIONS = ['', '-wal', '-shm', '-journal', '-serving', '-secret-key'];

/**
 * Copies a snapshot of a SQLite database into a file, while others read and write the database. The copy is checked before
 * it replaces any existing file, so an interrupted backup leaves that file unchanged.
 *
 * SQLite's backup restarts whenever another process has written (sqlite.org/c3ref/backup_finish.html), so under steady writes
 * it would never end. An open read transaction prevents that: the log grows meanwhile, but nobody has to wait.
 * @param path the database's path.
 * @returns the size of the file.
 * @throws UsageError when the file can't be placed there, the disk is full, or the copy isn't a complete database.
 */
export async function backUp(
  path: string,
  file: string,
  copying: CopyOptions,
): Promise<{ byteCount: number }> {
  const place = placeFor(path, file);
  try {
    using unfinished = beginFile(place);
    await copyAtOneMoment(path, unfinished.path, copying);
    // The copy equals the database, so any fault is the database's.
    examineCopy(unfinished.path, `The database ${path}`);
    refuseStopped(copying.signal);
    unfinished.replace();
  } catch (error) {
    throw error instanceof UsageError || !isSystemError(error)
      ? error
      : new UsageError(`The backup ${file} can't be written: ${error.message}. What was there is as it was.`);
  }
  return { byteCount: statSync(place).size };
}

async function copyAtOneMoment(path: string, to: string, { signal, onProgress }: CopyOptions): Promise<void> {
  const source = openAtOneMoment(path);
  try {
    const pageBytes = Number(source.pragma('page_size', { simple: true }));
    const logBytesMax = sizeOf(`${path}-wal`) + LOG_BYTES_MAX;
    await source.backup(to, {
      progress({ totalPages, remainingPages }) {
        refuseStopped(signal);
        if (sizeOf(`${path}-wal`) > logBytesMax)
          throw new UsageError(
            `The log of ${path} has grown by 4 GB during the backup, which was given up. Make it when less is written, or on a quicker disk.`,
          );
        onProgress((totalPages - remainingPages) * pageBytes, totalPages * pageBytes);
        return PAGES_AT_ONCE;
      },
    });
  } finally {
    source.close();
  }
}

/** Returns a database whose reads all see one snapshot. @throws UsageError naming the database when it can't be read. */
function openAtOneMoment(path: string): Database.Database {
  let source: Database.Database | undefined;
  try {
    refuseForeignFile(path);
    source = new Database(path, { fileMustExist: true, timeout: BUSY_MS_MAX });
    source.exec('BEGIN');
    // The first read fixes the snapshot for all later reads.
    source.prepare('SELECT 1 FROM sqlite_schema').get();
    return source;
  } catch (error) {
    source?.close();
    if (error instanceof UsageError) throw error;
    throw new UsageError(`The database ${path} can't be read: ${(error as Error).message}.`);
  }
}

/** Throws a UsageError if the copy has been cancelled. */
export function refuseStopped(signal: AbortSignal): void {
  if (signal.aborted) throw new UsageError(`Stopped by ${String(signal.reason)}. Nothing was changed.`);
}

function placeFor(path: string, file: string): string {
  if (!statSync(path, { throwIfNoEntry: false })) throw new UsageError(`There is no database ${path}.`);
  if (!isFilePath(file)) throw new UsageError(`${quote(file)} is no name of a file.`);
  const folder = dirname(file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`There is no folder ${folder} for the backup.`);
  const there = statSync(file, { throwIfNoEntry: false });
  const place = there ? realpathSync(file) : join(realpathSync(folder), basename(file));
  const companion = COMPANIONS.find((name) => isSame(place, `${realpathSync(path)}${name}`));
  if (companion !== undefined) {
    const what = companion === '' ? 'is the database itself' : 'belongs to the database itself';
    throw new UsageError(`${file} ${what}. A backup needs another file.`);
  }
  // Protects files that aren't backups from a mistyped name.
  if (there && !isBackup(place))
    throw new UsageError(`${file} already exists and isn't a backup, so it is left as it is.`);
  return place;
}

/** Whether a backup may replace a file: it must be a Fieldledger database that nobody uses, or empty. */
function isBackup(path: string): boolean {
  try {
    refuseForeignFile(path);
    return sizeOf(`${path}-wal`) === 0;
  } catch {
    return false;
  }
}

/** Whether two paths lead to the same file, even through a hard link. */
function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

/** Whether a file has the header of a SQLite database (sqlite.org/fileformat2.html#magic_header_string). */
export function isSqlite(path: string): boolean {
  const handle = openSync(path, 'r');
  try {
    const head = Buffer.alloc(16);
    readSync(handle, head, 0, 16, 0);
    return head.toString('latin1') === 'SQLite format 3\0';
  } finally {
    closeSync(handle);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Whether an error comes from the system or from SQLite, and so has a code. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error;
}
