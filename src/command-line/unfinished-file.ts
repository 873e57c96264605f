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

/** A file that is made under another name. Unless it is finished, it is removed when it is disposed of. */
export interface UnfinishedFile extends Disposable {
  readonly path: string;
  /** Takes the place of the file that is there, all at once. */
  replace: () => void;
  /** Takes the place where nothing is. @throws an error with the code EEXIST when there is something. */
  place: () => void;
}

/** The ends of names of the files that SQLite may have beside a database; the first is the database itself. */
const COMPANIONS = ['', '-journal', '-wal', '-shm'];

/**
 * Begins a file beside its place, for its owner alone; `mode` is what it gets when it replaces another. Leftovers of killed
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
      // A program on another machine may have removed it, and SQLite made it anew, readable by everybody.
      chmodSync(path, mode);
      renameSync(path, place);
      sync(folder);
    },
    place() {
      sync(path);
      // Unlike a new name, a second one never takes the place of another file.
      linkSync(path, place);
      unlinkSync(path);
      sync(folder);
    },
    [Symbol.dispose]() {
      for (const companion of COMPANIONS) rmSync(`${path}${companion}`, { force: true });
    },
  };
}

/** Whether a text is a path to a file, as far as its end says: not to a folder, and not empty. */
export function isFilePath(path: string): boolean {
  return !/(?:^|\/)\.{0,2}$/.test(path);
}

/** Names a file or folder that is being made beside its place, and removes those that killed programs have left there. */
export function unfinishedPath(place: string): string {
  const [folder, name] = [dirname(place), `${basename(place)}.unfinished-`];
  for (const left of readdirSync(folder).filter((other) => other.startsWith(name))) {
    const [, maker] = /^(\d+)-[0-9a-f]{8}(?:-\w+)?$/.exec(left.slice(name.length)) ?? [];
    // In containers process ids repeat, so this process's own id doesn't count.
    if (maker !== undefined && (Number(maker) === process.pid || !isRunning(Number(maker))))
      rmSync(join(folder, left), { recursive: true, force: true });
  }
  return join(folder, `${name}${process.pid}-${randomBytes(4).toString('hex')}`);
}

/** Whether there is a process with this id on this machine. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process is another user's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Flushes a file or a folder to the disk, so that after a power cut either the old file or the whole new one is there. */
function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
