import { quote, UsageError } from '../../errors.ts';
import { keptIn, openCopyFile } from './copy-file.ts';
import { inSentences } from './in-sentences.ts';
import { CopyError, type SyncState } from './sink.ts';
import { WITH_VIEWS } from './views.ts';

export type CopyRow = Record<string, string | number | null>;

/** A copy while it is read. */
export interface CopyReader {
  /** Everything that had changed by this time is in it. */
  asOf: string;
  /** The rows of a query over its tables and views. */
  rows: (select: string, values?: CopyRow) => CopyRow[];
}

/**
 * Reads from the copy in a SQLite file, all of one state of it, also while pull is writing.
 * @param options `today` is the day to which is counted how long an invoice is overdue; `needsDetails` where payments are read.
 * @param work is done at once: until its end pull can't write a batch.
 * @throws UsageError where there is no copy, or not what is asked of it.
 */
export function readCopy<T>(
  path: string,
  { today, needsDetails }: { today: string; needsDetails: boolean },
  work: (copy: CopyReader) => T,
): T {
  try {
    return inSentences(path, () => {
      using db = openCopyFile(path);
      if (!db) throw new CopyError(`There is no copy ${quote(path)}. "fieldledger pull --into" makes one.`);
      db.exec('BEGIN');
      const asOf = timeOf(path, keptIn(db).state, needsDetails);
      const rows: CopyReader['rows'] = (select, values = {}) =>
        // The columns are texts and numbers.
        db.prepare(`${WITH_VIEWS}\n${select}`).all({ today, ...values }) as CopyRow[];
      return work({ asOf, rows });
    });
  } catch (error) {
    throw error instanceof CopyError ? new UsageError(error.message) : error;
  }
}

/** Zero would be a wrong answer where the invoices are missing. */
function timeOf(path: string, { invoices }: SyncState, needsDetails: boolean): string {
  if (invoices?.checkpoint === undefined)
    throw new CopyError(
      `${path} ${invoices?.pass ? "doesn't have all invoices yet" : 'has no invoices'}. "fieldledger pull" brings them, with a key that may read them.`,
    );
  if (needsDetails && !invoices.details)
    throw new CopyError(`${path} has no payments, because it was pulled with --no-details. Pull without it.`);
  return invoices.checkpoint;
}
