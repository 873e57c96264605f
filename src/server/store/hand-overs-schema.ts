import type { Generated } from 'kysely';

/** The way of an issued document to the access point; see migrations/0022-hand-overs.ts. */
export interface HandOversTable {
  company: string;
  /** The id of the document's record. */
  id: string;
  created_at: string;
  state: Generated<'waiting' | 'sending' | 'handed_over' | 'failed' | 'withheld'>;
  /** Attempts that were begun. */
  attempt_count: Generated<number>;
  /** Attempts of the schedule under way that failed. */
  failure_count: Generated<number>;
  due_at: string;
  /** The worker that has, or had last, the right to tell the attempt's outcome. */
  lease: Generated<string | null>;
  /** Why the last attempt failed, or why it is withheld. */
  problem: Generated<string | null>;
  /** JSON array. */
  attempts: Generated<string>;
}
