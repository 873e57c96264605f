import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

import { unavailable } from '../../../errors.ts';

/**
 * Returns a check that the open file is still at its path. If it was replaced, as by `restore`, further writes to the open
 * file would be lost.
 * @returns a function that throws `unavailable` if not, based on a look at most `knownMs` milliseconds old.
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
 * Creates a missing file that only its owner can access, or removes other users' access to an existing one of ours and to the
 * files beside it. SQLite gives files that it adds the same mode.
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
    // Some file systems have no modes, which shouldn't prevent serving.
  }
}
