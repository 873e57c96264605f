import type { ListedRecordOf, RecordOf, Resource } from '../../contract/records.ts';

/** The resources that a copy can have, by the names of the API's paths. */
export { type Resource, resources } from '../../contract/records.ts';

/** The records of each resource. Quotes and invoices have their details unless `details` is off. */
export type SyncedRecord = { [R in Resource]: RecordOf[R] | ListedRecordOf[R] };

/** The progress of reading a list with `updatedSince`. */
export interface ListState {
  /** The `updatedSince` of this pass or the next one; absent until the list has been read once. */
  checkpoint?: string;
  /** The pass that was begun: the `Date` of its first page, and where it goes on. */
  pass?: { startedAt: string; cursor: string };
  /** The records that the next pass shows again, by id, with the time of the state that the copy has. */
  recent?: Record<string, string>;
}

/** The progress of reading a list whose records can be discarded as drafts, or have details. */
export interface DocumentsState extends ListState {
  /** Whether the records of the copy have their details. */
  details: boolean;
  /** The ids of the drafts of the copy. */
  drafts: Record<string, true>;
  /** The last valid day of each quote of the copy that is sent, by its id. */
  validUntil: Record<string, string>;
}

/** The resources whose lists need more than `updatedSince`. */
type Special = 'people' | 'submissions' | 'quotes' | 'invoices';

/** The progress of a copy. It is plain JSON: keep it together with the records, and give it back as it is. */
export interface SyncState extends Partial<Record<Exclude<Resource, Special>, ListState>> {
  /** Names the store that was read (`Store-Generation`). */
  generation?: string;
  /** The resources of which the copy still holds the records of another store. */
  outdated?: Resource[];
  /** A digest of each person of the copy, by id. */
  people?: Record<string, string>;
  /** The progress of each form's submissions, by the form's id. */
  submissions?: Record<string, ListState>;
  quotes?: DocumentsState;
  invoices?: DocumentsState;
}

/** A change of the copy. All of it has to be kept, or nothing. */
export type Batch = {
  [R in Resource]: {
    resource: R;
    /** Whether all records of the resource are to go before these are put: they come from another store. */
    clear?: boolean;
    /** New records, and new states of records: each takes the place of the record with its id. */
    put: SyncedRecord[R][];
    /** The ids of records that are gone. */
    remove: string[];
    /** The progress of the copy with this batch. */
    state: SyncState;
  };
}[Resource];

/** The place where a copy is kept. */
export interface Sink {
  /** The state of the last batch that was kept; undefined while there is none. */
  load?: () => SyncState | undefined | Promise<SyncState | undefined>;
  /** Keeps a batch with its state, both or neither. The next batch comes when this one is kept. */
  commit: (batch: Batch) => void | Promise<void>;
}

/** A copy that can't be kept where it was asked for. Its message is a sentence for whoever asked. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
}
