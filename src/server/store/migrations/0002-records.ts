import type { Dialect, Migration } from './migration.ts';

/**
 * The records of the API, and the indexes of their lists.
 *
 * `body ->> 'member'` and `GENERATED ALWAYS AS (...) STORED` mean the same on both engines. Text compares byte by
 * byte on both (SQLite's BINARY, PostgreSQL's "C"), so both give one order of ids.
 */
export const records: Migration = {
  name: '0002-records',
  statements: (dialect) => [
    ...recordTables(dialect),
    ...idIndexes,
    ...rangeIndexes,
    ...searchIndexes(dialect),
    // The latest version of a quote is its one version that is not revised: `versions=latest` relies on it.
    "CREATE UNIQUE INDEX quotes_latest ON quotes (company, quote_group_id) WHERE status <> 'revised'",
    // The last line of defence: a number is given out under the company's lock, and never twice.
    "CREATE UNIQUE INDEX invoices_numbered ON invoices (company, (body ->> 'number')) WHERE status = 'issued'",
  ],
};

/** Record tables keep SQLite's rowid: records of one to two kilobytes would make a tree without rowids deep. */
function recordTables({ text, json, table }: Dialect): string[] {
  const member = (column: string, path: string) =>
    `${column} ${text} GENERATED ALWAYS AS (${path}) STORED${column === 'issue_date' ? '' : ' NOT NULL'}`;
  const recordTable = (name: string, columns: string[] = []) => `
    CREATE TABLE ${name} (
      company ${text} NOT NULL REFERENCES companies (id),
      ${member('id', "body ->> 'id'")},
      ${columns.map((column) => `${column},`).join('\n')}
      digest ${text},
      body ${json} NOT NULL
    ) ${table}`;
  const status = member('status', "body ->> 'status'");
  const customer = member('customer', "body -> 'customer' ->> 'id'");
  const updatedAt = member('updated_at', "body ->> 'updatedAt'");
  const details = [`detail ${json} NOT NULL`, `unpublished ${json} NOT NULL DEFAULT '{}'`];
  return [
    recordTable('people'),
    recordTable('customers', [updatedAt]),
    recordTable('forms', [updatedAt]),
    recordTable('jobs', [updatedAt]),
    recordTable('submissions', [
      member('form_id', "body ->> 'formId'"),
      member('created_at', "body ->> 'createdAt'"),
    ]),
    recordTable('invoices', [
      member('kind', "body ->> 'kind'"),
      status,
      customer,
      member('issue_date', "body ->> 'issueDate'"),
      updatedAt,
      ...details,
    ]),
    recordTable('quotes', [
      member('quote_group_id', "body ->> 'quoteGroupId'"),
      status,
      customer,
      member('valid_until', "COALESCE(body ->> 'validUntil', '9999-12-31')"),
      updatedAt,
      ...details,
    ]),
  ];
}

/**
 * A list without ranges walks an index in id order that begins with the columns that its filters fix. A generated column
 * can't be part of a primary key in SQLite; a unique index serves the same.
 */
const idIndexes = [
  ...['people', 'customers', 'forms', 'jobs', 'submissions', 'invoices', 'quotes'].map(
    (table) => `CREATE UNIQUE INDEX ${table}_by_id ON ${table} (company, id)`,
  ),
  'CREATE INDEX submissions_of_form ON submissions (company, form_id, id, created_at)',
  'CREATE INDEX invoices_of_kind ON invoices (company, status, kind, id, updated_at, issue_date)',
  'CREATE INDEX invoices_of_customer ON invoices (company, customer, status, kind, id, updated_at, issue_date)',
  'CREATE INDEX quotes_of_status ON quotes (company, status, id, updated_at, valid_until)',
  'CREATE INDEX quotes_of_customer ON quotes (company, customer, status, id, updated_at, valid_until)',
];

/**
 * A list with ranges reads the index of a range, or walks all rows in id order. Either index holds every column that such
 * a list may ask for, so that rows that don't match are passed over without being read (../lists/lists.ts).
 */
const rangeIndexes = [
  ...['customers', 'forms', 'jobs'].flatMap((table) => [
    `CREATE INDEX ${table}_walked ON ${table} (company, id, updated_at)`,
    `CREATE INDEX ${table}_changed ON ${table} (company, updated_at, id)`,
  ]),
  'CREATE INDEX submissions_walked ON submissions (company, id, created_at, form_id)',
  'CREATE INDEX submissions_created ON submissions (company, created_at, id, form_id)',
  'CREATE INDEX invoices_walked ON invoices (company, id, updated_at, issue_date, status, kind, customer)',
  'CREATE INDEX invoices_issued ON invoices (company, issue_date, id, status, kind, customer, updated_at)',
  'CREATE INDEX invoices_changed ON invoices (company, updated_at, id, status, kind, customer, issue_date)',
  'CREATE INDEX quotes_walked ON quotes (company, id, updated_at, valid_until, status, customer)',
  'CREATE INDEX quotes_valid ON quotes (company, valid_until, id, status, customer, updated_at)',
  'CREATE INDEX quotes_changed ON quotes (company, updated_at, id, status, customer, valid_until)',
];

/** Capitals of the basic alphabet don't matter in a search; both engines take text byte by byte, and change no others. */
export function searchable({ name }: Pick<Dialect, 'name'>, column: string): string {
  return name === 'sqlite' ? `lower(${column})` : `lower((${column}) COLLATE "C")`;
}

/** Documents are searched by the beginning of their numbers, and of their customers' names. */
function searchIndexes(dialect: Dialect): string[] {
  return [
    `CREATE INDEX invoices_searched ON invoices (company, (${searchable(dialect, "body ->> 'number'")}), id)
      WHERE status = 'issued'`,
    `CREATE INDEX customers_searched ON customers (company, (${searchable(dialect, "body ->> 'name'")}), id)`,
  ];
}
