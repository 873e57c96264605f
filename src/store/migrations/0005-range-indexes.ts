import type { Migration } from '../migrate.ts';

/**
 * The indexes of ranges, with the columns that a list with a range may also ask for. The matches of a range lie all
 * over the table: to look at each one's row costs many times what it costs to look at its entry in the index.
 */
export const rangeIndexes: Migration = {
  name: '0005-range-indexes',
  statements: () => [
    'DROP INDEX invoices_issued',
    'DROP INDEX invoices_changed',
    'DROP INDEX quotes_valid',
    'DROP INDEX quotes_changed',
    'CREATE INDEX invoices_issued ON invoices (company, issue_date, id, status, kind, customer, updated_at)',
    'CREATE INDEX invoices_changed ON invoices (company, updated_at, id, status, kind, customer, issue_date)',
    'CREATE INDEX quotes_valid ON quotes (company, status, valid_until, id, customer, updated_at)',
    'CREATE INDEX quotes_changed ON quotes (company, updated_at, id, status, customer, valid_until)',
  ],
};
