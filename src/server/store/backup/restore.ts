import {
  createReadStream,
  createWriteStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { UsageError } from '../../../errors.ts';
import { lockServing } from '../engines/serving-lock.ts';
import { type CopyOptions, isSystemError, isSqlite, refuseStopped } from './backup.ts';
import { examineCopy } from './examine.ts';
import { beginFile, type UnfinishedFile } from '../../../command-line/unfinished-file.ts';

/**
 * Restores a backup atomically as a new database. It never replaces a database; the operator has to move that away first.
 * @param path the path of the new database.
 * @param key the key file beside the backup, and its destination; undefined when there is none.
 * @throws UsageError when the file isn't a backup that this version can use, the path is taken, a server still uses it, or
 *   the disk is full.
 */
export async function restoreBackup(
  file: string,
  path: string,
  { key, ...copying }: CopyOptions & { key: { from: string; to: string } | undefined },
): Promise<{ byteCount: number }> {
  refuseOtherFiles(file);
  refuseTaken(path);
  if (key) refuseOtherKey(key);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    using resources = new DisposableStack();
    const unfinished = resources.use(beginFile(path));
    await copy(file, unfinished.path, copying);
    examineCopy(unfinished.path, file);
    refuseStopped(copying.signal);
    // A running server would go on writing to the database that was moved away.
    resources.use(lockServing(`sqlite:${path}`));
    placeWithKey(unfinished, key);
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') refuseTaken(path);
    throw error instanceof UsageError || !isSystemError(error)
      ? error
      : new UsageError(
          `${file} can't be restored: ${error.message}. There is no database ${path}, as before.`,
        );
  }
  return { byteCount: statSync(path).size };
}

/** Puts the key in place before the database: a server starting in between would refuse a database without its key. */
function placeWithKey(unfinished: UnfinishedFile, key: { from: string; to: string } | undefined): void {
  const isNew = key && !existsSync(key.to);
  if (isNew) copyPrivately(key.from, key.to);
  try {
    unfinished.place();
  } catch (error) {
    if (isNew) rmSync(key.to);
    throw error;
  }
}

/** Copies a small file atomically, readable only by its owner. */
export function copyPrivately(from: string, to: string): void {
  using unfinished = beginFile(to);
  writeFileSync(unfinished.path, readFileSync(from));
  unfinished.replace();
}

async function copy(file: string, to: string, { signal, onProgress }: CopyOptions): Promise<void> {
  const { size } = statSync(file);
  let done = 0;
  async function* count(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      refuseStopped(signal);
      yield chunk;
      done += chunk.length;
      onProgress(done, size);
    }
  }
  await pipeline(createReadStream(file, { highWaterMark: 1_000_000 }), count, createWriteStream(to));
}

function refuseOtherFiles(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`There is no backup ${file}.`);
  if (!stats.isFile() || !isSqlite(file))
    throw new UsageError(`${file} isn't a backup: it isn't a SQLite database.`);
  // A file that was copied by hand may lack changes that are still in its log.
  if (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size)
    throw new UsageError(
      `${file} isn't a backup: a part of it is in ${file}-wal, as of a database that is in use. "fieldledger backup" makes one file of it.`,
    );
}

/** Refuses a path where any file of a database exists: SQLite would take a leftover log for the new database's. */
function refuseTaken(path: string): void {
  const taken = ['', '-wal', '-shm', '-journal']
    .map((companion) => `${path}${companion}`)
    .find((name) => lstatSync(name, { throwIfNoEntry: false }));
  if (taken === undefined) return;
  throw new UsageError(
    `${taken} already exists, and nothing is replaced. Stop what uses the database, and move it away with its -wal and -shm files.`,
  );
}

function refuseOtherKey({ from, to }: { from: string; to: string }): void {
  if (!existsSync(to) || readFileSync(to).equals(readFileSync(from))) return;
  throw new UsageError(
    `${to} holds another key than ${from}, and nothing is replaced. Move away the one that doesn't belong to the backup.`,
  );
}
