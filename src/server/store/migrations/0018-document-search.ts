import type { Migration } from './migration.ts';

/**
 * All that documents are found by, and the amounts due of them, in one index of a company's documents: a scan of it answers any
 * search, with its totals, and reads no document but those that are shown (../records/document-search.ts). What has a total in
 * common stands together, from the oldest to the newest, because SQLite would sort all entries to group them. `place` is the day of issue, or of a draft the day when it was made, and the id.
 * `balance_minor` is null unless it is an issued invoice. Rendering fills `search_words` and `paid_minor` (../search-columns.ts).
 *
 * SQLite adds no stored column to a table, and keeps those that it computes in the index. One statement adds all of
 * PostgreSQL's, because each such statement writes the table anew.
 */
export const documentSearch: Migration = {
  name: '0018-document-search',
  statements: ({ name, text }) => {
    const isSqlite = name === 'sqlite';
    const integer = isSqlite ? 'INTEGER' : 'BIGINT';
    const computed = (column: string, type: string, path: string) =>
      `${column} ${type} GENERATED ALWAYS AS (${path}) ${isSqlite ? 'VIRTUAL' : 'STORED'}`;
    const amount = (path: string) => `CAST(${path} AS ${integer})`;
    const made = "substr(body ->> 'createdAt', 1, 10)";
    const columns = [
      computed('place', text, `COALESCE(body ->> 'issueDate', ${made}) || (body ->> 'id')`),
      computed('currency', text, "body ->> 'currency'"),
      computed('due_date', text, "body ->> 'dueDate'"),
      computed('gross_minor', integer, amount("body -> 'totals' ->> 'grossMinor'")),
      computed(
        'balance_minor',
        integer,
        `${amount("detail ->> 'amountDueMinor'")} - ${amount("detail ->> 'creditBalanceMinor'")}`,
      ),
      `paid_minor ${integer} NOT NULL DEFAULT 0`,
      `search_words ${text} NOT NULL DEFAULT ''`,
    ].map((column) => `ADD COLUMN ${column}`);
    const additions = isSqlite ? columns : [columns.join(', ')];
    return [
      ...additions.map((addition) => `ALTER TABLE invoices ${addition}`),
      'DROP INDEX invoices_searched',
      `CREATE INDEX invoices_searched ON invoices (company, status, kind, currency, place, gross_minor, balance_minor, paid_minor,
        due_date, customer, search_words)`,
      // Overdue invoices are read without the rest (../records/overdue.ts).
      `CREATE INDEX invoices_due ON invoices (company, due_date, currency, balance_minor) WHERE balance_minor > 0`,
    ];
  },
};
