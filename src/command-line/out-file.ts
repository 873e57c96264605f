import { copyFileSync, createWriteStream, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { quote, UsageError } from '../errors.ts';
import { beginFile, isFilePath } from './unfinished-file.ts';
import type { Terminal } from './terminal.ts';

/** The file name that stands for standard output. */
export const STDOUT = '-';

const UNTOUCHED = 'No file was written.';

type Pieces = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/**
 * Checks that a file can be written at the given path, or to standard output.
 * @throws UsageError that says why it can't.
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
  // Renaming a file onto a device or a pipe would delete the device or pipe.
  if (!isFilePath(out) || (there && !there.isFile())) throw new UsageError(`${quote(out)} is not a file.`);
  if (!there && lstatSync(out, { throwIfNoEntry: false }))
    throw new UsageError(`${quote(out)} is a link that leads nowhere.`);
}

/**
 * Writes pieces to standard output, or to a new file that only its owner can access, which is moved into place when complete.
 * A replaced file keeps its mode, and a link to it stays a link. A file that can't be replaced, because it is mounted or its
 * folder is read-only, is overwritten in place. Nothing is touched before `pieces` resolves.
 * @returns whether all pieces were taken: the reader of a pipe may close it.
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

/** Matches system error codes for a file that can't be replaced but may still be writable. */
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

/** Begins a file beside the given place. @returns undefined if a file exists there and none can be created beside it. */
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
