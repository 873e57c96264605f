import { copyFileSync, createWriteStream, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { quote, UsageError } from '../errors.ts';
import { beginFile, isFilePath } from './unfinished-file.ts';
import type { Terminal } from './terminal.ts';

/** The name of standard output in place of a file's. */
export const STDOUT = '-';

const UNTOUCHED = 'No file was written.';

type Pieces = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/**
 * Checks the place of a file that is going to be written.
 * @throws UsageError that names what stands against it.
 */
export function checkOut(out: string): void {
  try {
    if (out !== STDOUT) checkPlace(out);
  } catch (error) {
    throw unwritable(error, out, UNTOUCHED) ?? error;
  }
}

function checkPlace(out: string): void {
  if (!statSync(dirname(out), { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`There is no folder ${quote(dirname(out))}.`);
  const there = statSync(out, { throwIfNoEntry: false });
  if (there?.isDirectory()) throw new UsageError(`${quote(out)} is a folder.`);
  // Renaming a file onto a device or a pipe would remove it.
  if (!isFilePath(out) || (there && !there.isFile())) throw new UsageError(`${quote(out)} is no file.`);
  if (!there && lstatSync(out, { throwIfNoEntry: false }))
    throw new UsageError(`${quote(out)} is a link that leads nowhere.`);
}

/**
 * Writes pieces into a file, for its owner alone, which takes its place when it is whole; or to standard output. One that is
 * replaced keeps its mode, and a link to it stays one. A file that can't be replaced, because it is mounted or its folder
 * takes no new ones, is written in place. Nothing is touched before `pieces` have begun.
 * @returns whether somebody took all of it: a pipe may be closed.
 * @throws UsageError that says why nothing can be written.
 */
export async function writeOut(
  out: string,
  pieces: Pieces | Promise<Pieces>,
  { terminal, signal }: { terminal: Terminal; signal: AbortSignal },
): Promise<boolean> {
  const state = { isTouched: false };
  try {
    const begun = await pieces;
    if (out !== STDOUT) return await writeFile(out, begun, state);
    for await (const piece of begun) {
      state.isTouched = true;
      terminal.print(piece);
      if (!(await terminal.takesMore(signal))) return false;
    }
    return true;
  } catch (error) {
    const left = state.isTouched ? 'What was written is not whole.' : UNTOUCHED;
    if (signal.aborted) throw new UsageError(`Stopped by ${String(signal.reason)}. ${left}`);
    const refusal = unwritable(error, out, left);
    if (!refusal && state.isTouched) terminal.tell(`${left}\n`);
    throw refusal ?? error;
  }
}

/** The system's codes for a file that can't be replaced, though it may be written. */
const IRREPLACEABLE = /^(?:EBUSY|EROFS|EACCES|EPERM)$/;

function isIrreplaceable(error: unknown): boolean {
  return IRREPLACEABLE.test(String((error as NodeJS.ErrnoException).code));
}

async function writeFile(out: string, pieces: Pieces, state: { isTouched: boolean }): Promise<true> {
  const there = statSync(out, { throwIfNoEntry: false });
  const place = there ? realpathSync(out) : out;
  using file = begin(place, there && there.mode & 0o777);
  state.isTouched = file === undefined;
  await pipeline(pieces, createWriteStream(file?.path ?? place));
  try {
    file?.replace();
  } catch (error) {
    if (!there || !file || !isIrreplaceable(error)) throw error;
    state.isTouched = true;
    copyFileSync(file.path, place);
  }
  return true;
}

/** Begins another file beside the place. @returns undefined where a file is there, and none can be made beside it. */
function begin(place: string, mode: number | undefined) {
  try {
    return beginFile(place, mode);
  } catch (error) {
    if (mode === undefined || !isIrreplaceable(error)) throw error;
    return undefined;
  }
}

function unwritable(error: unknown, out: string, left: string): UsageError | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG')
    return new UsageError(`There is no room for ${quote(out)} (${code}). ${left}`);
  return syscall === undefined
    ? undefined
    : new UsageError(`${quote(out)} can't be written (${code}). ${left}`);
}
