import { CopyError } from './sink.ts';

/**
 * Does work on the copy at a path.
 * @throws CopyError that tells an error of SQLite or of the disk in a sentence.
 */
export function inSentences<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (!(error instanceof Error) || typeof code !== 'string') throw error;
    throw new CopyError(sentence(path, code, error.message), { cause: error });
  }
}

function sentence(path: string, code: string, message: string): string {
  if (code === 'SQLITE_NOTADB') return `${path} is no SQLite file. Name another one.`;
  // A program that only reads a SQLite file keeps others from writing too. The file of JSON Lines is that of a new state.
  if (code.startsWith('SQLITE_BUSY') || code === 'EEXIST')
    return `Another program is using ${path}. Close it and start again.`;
  if (code === 'SQLITE_READONLY') return `${path} may not be written to.`;
  if (code.startsWith('SQLITE_IOERR') || DISK_ERRORS.has(code))
    return `The disk of ${path} is full or fails (${code}). The copy is as it was before.`;
  return `${path} can't be used: ${message}.`;
}

const DISK_ERRORS: ReadonlySet<string> = new Set(['SQLITE_FULL', 'ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']);

/** The refusal of a batch that doesn't follow on what the copy has. */
export function changedMeanwhile(path: string): CopyError {
  return new CopyError(`Something else has brought ${path} up to date meanwhile. Start again.`);
}
