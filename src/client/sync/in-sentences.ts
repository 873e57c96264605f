import { CopyError } from './sink.ts';

/**
 * Runs work on the copy at a path, and returns its result.
 * @throws CopyError that describes an error of SQLite or the disk in a sentence.
 */
export function withReadableErrors<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = codeOf(error);
    if (!(error instanceof Error) || code === undefined) throw error;
    throw new CopyError(sentence(path, code, error.message), { cause: error });
  }
}

/** The names of the SQLite results that have an error message of their own, by number (sqlite.org/rescode.html). */
const SQLITE_RESULTS: Record<number, string> = {
  5: 'SQLITE_BUSY',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  13: 'SQLITE_FULL',
  26: 'SQLITE_NOTADB',
};

/** Returns the name of a SQLite or system error. The low byte of SQLite's number is the result; the others give details. */
function codeOf(error: unknown): string | undefined {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  const name = typeof errcode === 'number' ? SQLITE_RESULTS[errcode & 0xff] : undefined;
  return name ?? (typeof code === 'string' ? code : undefined);
}

/** Whether an error means that another program is using a SQLite file. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_BUSY';
}

function sentence(path: string, code: string, message: string): string {
  if (code === 'SQLITE_NOTADB') return `${path} is no SQLite file. Name another one.`;
  // A program that only reads a SQLite file blocks writers too. For JSON Lines, the existing file is a new state's.
  if (code === 'SQLITE_BUSY' || code === 'EEXIST')
    return `Another program is using ${path}. Close it and start again.`;
  if (code === 'SQLITE_READONLY') return `${path} may not be written to.`;
  if (DISK_ERRORS.has(code))
    return `The disk of ${path} is full or fails (${code}). The copy is as it was before.`;
  return `${path} can't be used: ${message}.`;
}

const DISK_ERRORS: ReadonlySet<string> = new Set([
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'EIO',
]);

/** Returns the error for a batch that doesn't follow on the copy's current state. */
export function concurrentChangeError(path: string): CopyError {
  return new CopyError(`Something else has brought ${path} up to date meanwhile. Start again.`);
}
