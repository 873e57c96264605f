import type { Migration } from './migration.ts';

/** Invoices of which something is due, by the day on which it was (../records/overdue.ts). */
export const overdueInvoices: Migration = {
  name: '0022-overdue-invoices',
  statements: () => [
    `CREATE INDEX invoices_due ON invoices
      (company, (body ->> 'dueDate'), (body ->> 'currency'), (CAST(detail ->> 'amountDueMinor' AS BIGINT)))
      WHERE CAST(detail ->> 'amountDueMinor' AS BIGINT) > 0`,
  ],
};
