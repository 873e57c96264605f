import { bytes, company, integer, json, oneOf, orElse, orNull, defineTable, text } from './table.ts';

/**
 * The PDF of each issued document, made only once so that every download is identical. Drafts have none here. The bytes come
 * last, so that SQLite can read the other columns without them. PostgreSQL stores them out of line and uncompressed,
 * because a PDF is compressed already.
 */
export const documents = defineTable({
  name: 'documents',
  columns: {
    company: text,
    /** The id of the document's record. */
    invoice: text,
    number: text,
    /** Hex SHA-256 of the PDF's bytes. */
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

/** A stored attempt to hand a document over to the access point. */
export interface HandOverAttempt {
  at: string;
  ms: number;
  /** The reason for failure: a status that isn't 2xx, an error class or a system error code; null if it succeeded. */
  problem: string | null;
  /** The beginning of a response that isn't 2xx, if it is text. */
  answer?: string | undefined;
  nextAt?: string | undefined;
}

/** Issued documents' deliveries to the operator's access point, committed with the issue and kept with the document. */
export const handOvers = defineTable({
  name: 'hand_overs',
  columns: {
    company,
    /** The id of the document's record. */
    id: text,
    created_at: text,
    state: orElse(oneOf('waiting', 'sending', 'handed_over', 'failed', 'withheld'), "'waiting'"),
    /** Number of attempts started. */
    attempt_count: orElse(integer, '0'),
    /** Failed attempts of the current retry schedule. */
    failure_count: orElse(integer, '0'),
    /** The time of the next attempt; during an attempt, the end of its lease; afterwards, the time it was settled. */
    due_at: text,
    /** Id of the current or last lease, whose worker alone may record the attempt's outcome. */
    lease: orNull(text),
    /** The last failure, the reason for no attempt (`waited`, `no_e_invoice`) or for withholding (`hand_over_off`). */
    problem: orNull(text),
    /** The latest attempts, oldest first; emptied 30 days after the document was settled. */
    attempts: orElse(json<HandOverAttempt[]>(), "'[]'"),
  },
  key: ['company', 'id'],
  indexes: {
    hand_overs_due: "(due_at) WHERE state IN ('waiting', 'sending')",
    hand_overs_tried: "(due_at) WHERE attempts <> '[]'",
    hand_overs_failed: "(company, due_at) WHERE state = 'failed'",
  },
});
