import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

import { unavailable } from '../../../errors.ts';

/**
 * Builds a check that the file which is open is still at its path. Somebody who has put another one there, as `restore` does,
 * would never see what is written to the first.
 * @returns a function that throws `unavailable` when it isn't, as far as it knew so many milliseconds ago.
 */
export function createPlaceCheck(path: string): (knownMs: number) => void {
  const look = () => {
    const file = statSync(path, { throwIfNoEntry: false });
    return file && `${file.dev} ${file.ino}`;
  };
  const opened = look();
  let [found, lookedAtMs] = [opened, performance.now()];
  return (knownMs) => {
    const nowMs = performance.now();
    if (nowMs - lookedAtMs >= knownMs) [found, lookedAtMs] = [look(), nowMs];
    if (found === opened) return;
    const cause = new Error(`${path} was moved away or replaced while it was open; start this process again`);
    throw unavailable({ cause });
  };
}

/**
 * Creates a missing file for its owner alone, and takes one of ours that is there already from everybody else, with what
 * lies beside it. SQLite gives the files that it adds the same mode.
 */
export function makePrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    for (const companion of ['', '-wal', '-shm', '-secret-key']) takeFromOthers(`${path}${companion}`);
  }
}

function takeFromOthers(path: string): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file?.isFile() || file.uid !== process.geteuid?.() || (file.mode & 0o077) === 0) return;
  try {
    chmodSync(path, file.mode & 0o700);
  } catch {
    // Some file systems have no modes. That is no reason not to serve.
  }
}
