import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A file that is written under a temporary name. Unless it is finished, it is deleted when it is disposed of. */
export interface UnfinishedFile extends Disposable {
  readonly path: string;
  /** Moves the file to its final place atomically, replacing any file there. */
  replace: () => void;
  /** Moves the file to its final place, if nothing is there. @throws an error with the code EEXIST otherwise. */
  place: () => void;
}

/** The suffixes of a SQLite database (none) and of the files that SQLite may create beside it. */
const COMPANIONS = ['', '-journal', '-wal', '-shm'];

/**
 * Creates a file beside its final place, for its owner alone; it gets `mode` when it replaces another. Leftovers of killed
 * programs are removed. If two programs write the same file at once, the last to finish wins.
 */
export function beginFile(place: string, mode = 0o600): UnfinishedFile {
  const folder = dirname(place);
  const path = unfinishedPath(place);
  closeSync(openSync(path, 'wx', 0o600));
  return {
    path,
    replace() {
      sync(path);
      // A program on another machine may have removed the file, and SQLite recreated it, readable by everybody.
      chmodSync(path, mode);
      renameSync(path, place);
      sync(folder);
    },
    place() {
      sync(path);
      // Unlike renaming, a hard link never replaces another file.
      linkSync(path, place);
      unlinkSync(path);
      sync(folder);
    },
    [Symbol.dispose]() {
      for (const companion of COMPANIONS) rmSync(`${path}${companion}`, { force: true });
    },
  };
}

/** Whether a path could name a file: it isn't empty, and doesn't end like a folder's. */
export function isFilePath(path: string): boolean {
  return !/(?:^|\/)\.{0,2}$/.test(path);
}

/** Returns a temporary path beside the final place of a file or folder, and removes leftovers of killed programs there. */
export function unfinishedPath(place: string): string {
  const [folder, name] = [dirname(place), `${basename(place)}.unfinished-`];
  for (const left of readdirSync(folder).filter((other) => other.startsWith(name))) {
    const [, maker] = /^(\d+)-[0-9a-f]{8}(?:-\w+)?$/.exec(left.slice(name.length)) ?? [];
    // In containers process ids repeat, so a leftover with this process's own id isn't in use.
    if (maker !== undefined && (Number(maker) === process.pid || !isRunning(Number(maker))))
      rmSync(join(folder, left), { recursive: true, force: true });
  }
  return join(folder, `${name}${process.pid}-${randomBytes(4).toString('hex')}`);
}

/** Whether a process with the given id is running on this machine. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Flushes a file or folder to disk, so that a power cut leaves either the old file or the complete new one. */
function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
