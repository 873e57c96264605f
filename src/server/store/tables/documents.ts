import { bytes, company, integer, json, oneOf, orElse, orNull, defineTable, text } from './table.ts';

/**
 * The PDF of each issued document, made once and never again: what was given out once is given out for ever. Drafts have none
 * here. The bytes come last, so that SQLite finds the rest without reading them; PostgreSQL keeps them apart, as they are,
 * because a PDF is compressed already.
 */
export const documents = defineTable({
  name: 'documents',
  columns: {
    company: text,
    /** The id of the document's record. */
    invoice: text,
    number: text,
    /** Hex SHA-256 of the bytes. */
    sha256: text,
    byte_count: integer,
    bytes,
  },
  key: ['company', 'invoice'],
  constraints: ['FOREIGN KEY (company, invoice) REFERENCES invoices (company, id)'],
  also: (engine) =>
    engine === 'sqlite' ? [] : ['ALTER TABLE documents ALTER COLUMN bytes SET STORAGE EXTERNAL'],
});

export const logos = defineTable({
  name: 'logos',
  columns: { company, sha256: text, data_url: text },
  key: ['company', 'sha256'],
});

/** An attempt to hand a document over, as it is kept. */
export interface HandOverAttempt {
  at: string;
  ms: number;
  /** The status of an answer that isn't 2xx, a class of error, or the system's code of an error; null when it was taken. */
  problem: string | null;
  /** The beginning of an answer that isn't 2xx, if it is text. */
  answer?: string | undefined;
  nextAt?: string | undefined;
}

/** The way of an issued document to the operator's access point, committed with its issue and kept as long as the document. */
export const handOvers = defineTable({
  name: 'hand_overs',
  columns: {
    company,
    /** The id of the document's record. */
    id: text,
    created_at: text,
    state: orElse(oneOf('waiting', 'sending', 'handed_over', 'failed', 'withheld'), "'waiting'"),
    /** Attempts that were begun. */
    attempt_count: orElse(integer, '0'),
    /** Attempts of the schedule under way that failed. */
    failure_count: orElse(integer, '0'),
    /** When it is to be handed over; while it is being sent, when the lease on it ends; then, when it was settled. */
    due_at: text,
    /** The worker that has, or had last, the right to tell the attempt's outcome. */
    lease: orNull(text),
    /** Why the last attempt failed, why there is none (`waited`, `no_e_invoice`), or why it is withheld (`hand_over_off`). */
    problem: orNull(text),
    /** The latest, the last at the end; none 30 days after the document was settled. */
    attempts: orElse(json<HandOverAttempt[]>(), "'[]'"),
  },
  key: ['company', 'id'],
  indexes: {
    hand_overs_due: "(due_at) WHERE state IN ('waiting', 'sending')",
    hand_overs_tried: "(due_at) WHERE attempts <> '[]'",
    hand_overs_failed: "(company, due_at) WHERE state = 'failed'",
  },
});
