import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** File mode, whatever the umask: the access point runs as another user, and reads documents as a member of the group. */
const MODE = 0o640;

/** Problem code for a folder that already has a different file of the same name. */
const TAKEN = 'taken';

export interface Drop {
  folder: string;
  /** File name, without a slash. */
  name: string;
  text: string;
  /** The number of the attempt, which no other attempt of the document has had. */
  attempt: number;
}

/**
 * Puts a document into a folder, whole or not at all, even in a power cut. An existing file with the same content counts as
 * success. Unfinished files of earlier attempts are removed. It runs in a separate process; see access-point.ts.
 * @returns `TAKEN` when a file of that name has other content, which stays as it is.
 * @throws an error of the operating system, such as ENOSPC.
 */
export async function dropInto({ folder, name, text, attempt }: Drop): Promise<typeof TAKEN | undefined> {
  const place = join(folder, name);
  const there = await sizeOf(place);
  if (there !== undefined)
    return there === Buffer.byteLength(text) && (await readFile(place, 'utf8')) === text ? undefined : TAKEN;
  const unfinished = (number: number) => `${place}.unfinished-${number}`;
  // A process may have ended during any earlier attempt.
  for (let earlier = 1; earlier < attempt; earlier += 1) await rm(unfinished(earlier), { force: true });
  const path = unfinished(attempt);
  try {
    const file = await open(path, 'wx', MODE);
    try {
      await file.chmod(MODE);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(path, place);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  await using entries = await open(folder);
  await entries.sync();
  return undefined;
}

/** Returns the size of a file in bytes; undefined if there is no file. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
