import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Members of the access point's group may read a document, whatever the umask: it runs as another user. */
const MODE = 0o640;

/** The problem of a folder that has another file of the name. */
const TAKEN = 'taken';

export interface Drop {
  folder: string;
  /** File name, without a slash. */
  name: string;
  text: string;
  /** Which no other attempt of the document has had. */
  attempt: number;
}

/**
 * Puts a document into a folder: whole or not at all, also when the power goes. A file that has the same content already is
 * as good. The unfinished files of earlier attempts are removed. It runs in a process of its own; see access-point.ts.
 * @returns `TAKEN` when a file of the name says something else, which stays.
 * @throws an error of the system, such as ENOSPC.
 */
export async function dropInto({ folder, name, text, attempt }: Drop): Promise<typeof TAKEN | undefined> {
  const place = join(folder, name);
  const there = await sizeOf(place);
  if (there !== undefined)
    return there === Buffer.byteLength(text) && (await readFile(place, 'utf8')) === text ? undefined : TAKEN;
  const unfinished = (number: number) => `${place}.unfinished-${number}`;
  // A process may have ended in any of them.
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

/** The bytes of a file; undefined where there is none. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
