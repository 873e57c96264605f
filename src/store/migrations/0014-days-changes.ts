import type { Migration } from '../migrate.ts';

/**
 * The changes of each day's documents: where a list asks for days and for a time of change, what lies in both is read
 * out of the index alone (see ../range-queries.ts).
 */
export const daysChanges: Migration = {
  name: '0014-days-changes',
  statements: () => [
    // By the days alone, which the portal searches; a change of a document leaves it as it is.
    'DROP INDEX invoices_issued',
    'DROP INDEX quotes_valid',
    'CREATE INDEX invoices_issued ON invoices (company, issue_date, id)',
    'CREATE INDEX invoices_issued_changed ON invoices (company, issue_date, updated_at, id, status, kind, customer)',
    'CREATE INDEX quotes_valid_changed ON quotes (company, status, valid_until, updated_at, id, customer)',
  ],
};
