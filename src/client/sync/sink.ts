import type { ListedRecordOf, RecordOf, Resource } from '../../contract/records.ts';

/** The resources that a copy can contain, named as in the API's paths. */
export { type Resource, resources } from '../../contract/records.ts';

/** The type of each resource's records in a copy. Quotes and invoices have their details unless `details` is off. */
export type SyncedRecord = { [R in Resource]: RecordOf[R] | ListedRecordOf[R] };

/** The progress of reading a list that takes `updatedSince`. */
export interface ListState {
  /** The `updatedSince` of this pass or the next one; absent until the list has been read in full. */
  checkpoint?: string;
  /** The pass that was interrupted: the `Date` of its first page, and the cursor of its next page; absent if none was. */
  pass?: { startedAt: string; cursor: string };
  /** The records that the next pass will list again, by id, each with the time of its last change in the copy. */
  recent?: Record<string, string>;
}

/** The progress of reading quotes or invoices, which can be drafts and have details. */
export interface DocumentsState extends ListState {
  /** Whether the copy's records include their details, such as lines. */
  details: boolean;
  /** The ids of the drafts in the copy. */
  drafts: Record<string, true>;
  /** The last valid day of each sent quote in the copy, by id. */
  validUntil: Record<string, string>;
}

/** The resources whose progress isn't a plain `ListState`. */
type Special = 'people' | 'submissions' | 'quotes' | 'invoices';

/** The progress of a copy, as plain JSON. Store it together with the records, and pass it back unchanged. */
export interface SyncState extends Partial<Record<Exclude<Resource, Special>, ListState>> {
  /** The id of the store that the records were read from (`Store-Generation`), absent if the service sent none. */
  generation?: string;
  /** The resources whose copied records still come from an earlier store, before a restore. */
  outdated?: Resource[];
  /** A digest of each person's record in the copy, by id, to detect changes. */
  people?: Record<string, string>;
  /** The progress of each form's submissions, by form id. */
  submissions?: Record<string, ListState>;
  quotes?: DocumentsState;
  invoices?: DocumentsState;
}

/** Changes to one resource in the copy, with the new state. A sink must store all of it or nothing. */
export type Batch = {
  [R in Resource]: {
    resource: R;
    /** Whether to delete all the resource's records first, because they come from another store. */
    clear?: boolean;
    /** New and changed records; each replaces any record with its id. */
    put: SyncedRecord[R][];
    /** The ids of records to delete. */
    remove: string[];
    /** The progress of the copy once this batch is stored. */
    state: SyncState;
  };
}[Resource];

/** Storage that holds a copy. */
export interface Sink {
  /** Returns the state stored with the last batch; undefined if no batch is stored. */
  load?: () => SyncState | undefined | Promise<SyncState | undefined>;
  /** Stores a batch and its state atomically. The next call comes only after this one has finished. */
  commit: (batch: Batch) => void | Promise<void>;
}

/** An error for a copy that can't be stored or read. Its message is a sentence for the user. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
}
