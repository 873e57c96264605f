import { quote, UsageError } from '../../errors.ts';
import { readCopyMetadata, openCopyFile } from './copy-file.ts';
import { withReadableErrors } from './in-sentences.ts';
import { CopyError, type SyncState } from './sink.ts';
import { WITH_VIEWS } from './views.ts';

export type CopyRow = Record<string, string | number | null>;

/** Read access to a copy. */
export interface CopyReader {
  /** The time up to which the copy has all changes. */
  asOf: string;
  /** Returns the rows of a query over the copy's tables and views. */
  rows: (select: string, values?: CopyRow) => CopyRow[];
}

/**
 * Returns the result of work on a copy in a SQLite file, all of whose reads see the same state even while pull writes.
 * @param options `today` is the day up to which days overdue are counted; `needsDetails` is for reading payments.
 * @param work runs synchronously: pull can't write a batch until it ends.
 * @throws UsageError if there is no copy, or it lacks the data needed.
 */
export function readCopy<T>(
  path: string,
  { today, needsDetails }: { today: string; needsDetails: boolean },
  work: (copy: CopyReader) => T,
): T {
  try {
    return withReadableErrors(path, () => {
      using db = openCopyFile(path);
      if (!db) throw new CopyError(`There is no copy ${quote(path)}. "fieldledger pull --into" makes one.`);
      db.exec('BEGIN');
      const asOf = timeOf(path, readCopyMetadata(db).state, needsDetails);
      const rows: CopyReader['rows'] = (select, values = {}) =>
        // The columns hold only text and numbers.
        db.prepare(`${WITH_VIEWS}\n${select}`).all({ today, ...values }) as CopyRow[];
      return work({ asOf, rows });
    });
  } catch (error) {
    throw error instanceof CopyError ? new UsageError(error.message) : error;
  }
}

/** Returns the time up to which a copy is complete. Refuses a copy without invoices, whose totals of zero would be wrong. */
function timeOf(path: string, { invoices }: SyncState, needsDetails: boolean): string {
  if (invoices?.checkpoint === undefined)
    throw new CopyError(
      `${path} ${invoices?.pass ? "doesn't have all invoices yet" : 'has no invoices'}. "fieldledger pull" brings them, with a key that may read them.`,
    );
  if (needsDetails && !invoices.details)
    throw new CopyError(`${path} has no payments, because it was pulled with --no-details. Pull without it.`);
  return invoices.checkpoint;
}
