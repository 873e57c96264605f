import type { Dialect, Migration } from '../migrate.ts';

/**
 * Companies, keys and the records of the API.
 *
 * `body ->> 'member'` and `GENERATED ALWAYS AS (...) STORED` mean the same on both engines. Text compares byte by
 * byte on both (SQLite's BINARY, PostgreSQL's "C"), so both give one order of ids.
 */
export const initial: Migration = {
  name: '0001-initial',
  statements: (dialect) => [
    ...accessTables(dialect),
    ...recordTables(dialect),
    ...recordIndexes,
    ...statistics(dialect),
    ...rateCounts(dialect),
  ],
};

function accessTables({ text, table }: Dialect): string[] {
  const flag = (name: string) => `${name} INTEGER NOT NULL CHECK (${name} IN (0, 1))`;
  return [
    `CREATE TABLE companies (
      id ${text} PRIMARY KEY,
      name ${text} NOT NULL,
      ${flag('api_enabled')},
      ${flag('subscription_active')},
      ${flag('invoicing_enabled')},
      modules ${text} NOT NULL,
      time_zone ${text} NOT NULL,
      currency ${text} NOT NULL,
      profile ${text} NOT NULL,
      created_at ${text} NOT NULL
    ) ${table}`,
    `CREATE TABLE api_keys (
      company ${text} NOT NULL REFERENCES companies (id),
      id ${text} NOT NULL,
      name ${text} NOT NULL,
      secret_sha256 ${text} NOT NULL,
      scopes ${text} NOT NULL,
      created_at ${text} NOT NULL,
      revoked_at ${text},
      PRIMARY KEY (company, id)
    ) ${table}`,
  ];
}

/** Record tables keep SQLite's rowid: records of one to two kilobytes would make a tree without rowids deep. */
function recordTables({ text, json, table }: Dialect): string[] {
  const member = (column: string, path: string) =>
    `${column} ${text} GENERATED ALWAYS AS (${path}) STORED${column === 'issue_date' ? '' : ' NOT NULL'}`;
  const records = (name: string, columns: string[] = []) => `
    CREATE TABLE ${name} (
      company ${text} NOT NULL REFERENCES companies (id),
      ${member('id', "body ->> 'id'")},
      ${columns.map((column) => `${column},`).join('\n')}
      body ${json} NOT NULL
    ) ${table}`;
  const status = member('status', "body ->> 'status'");
  const customer = member('customer', "body -> 'customer' ->> 'id'");
  const updatedAt = member('updated_at', "body ->> 'updatedAt'");
  const detail = `detail ${json} NOT NULL`;
  return [
    records('people'),
    records('customers', [updatedAt]),
    records('forms', [updatedAt]),
    records('jobs', [updatedAt]),
    records('submissions', [
      member('form_id', "body ->> 'formId'"),
      member('created_at', "body ->> 'createdAt'"),
    ]),
    records('invoices', [
      member('kind', "body ->> 'kind'"),
      status,
      customer,
      member('issue_date', "body ->> 'issueDate'"),
      updatedAt,
      detail,
    ]),
    records('quotes', [
      member('quote_group_id', "body ->> 'quoteGroupId'"),
      status,
      customer,
      member('valid_until', "COALESCE(body ->> 'validUntil', '9999-12-31')"),
      updatedAt,
      detail,
    ]),
  ];
}

/**
 * Every list walks an index in id order: the one by id, or one that begins with the filtered columns and ends with
 * the id. The indexes that begin with a time or a day serve the range filters (see ../lists.ts).
 * A generated column can't be part of a primary key in SQLite; a unique index serves the same.
 */
const recordIndexes = [
  'CREATE UNIQUE INDEX people_by_id ON people (company, id)',
  'CREATE UNIQUE INDEX customers_by_id ON customers (company, id)',
  'CREATE INDEX customers_changed ON customers (company, updated_at, id)',
  'CREATE UNIQUE INDEX forms_by_id ON forms (company, id)',
  'CREATE INDEX forms_changed ON forms (company, updated_at, id)',
  'CREATE UNIQUE INDEX jobs_by_id ON jobs (company, id)',
  'CREATE INDEX jobs_changed ON jobs (company, updated_at, id)',
  'CREATE UNIQUE INDEX submissions_by_id ON submissions (company, id)',
  'CREATE INDEX submissions_of_form ON submissions (company, form_id, id)',
  'CREATE INDEX submissions_created ON submissions (company, form_id, created_at, id)',
  'CREATE UNIQUE INDEX invoices_by_id ON invoices (company, id)',
  'CREATE INDEX invoices_of_kind ON invoices (company, status, kind, id)',
  'CREATE INDEX invoices_of_customer ON invoices (company, customer, status, kind, id)',
  'CREATE INDEX invoices_issued ON invoices (company, issue_date, id)',
  'CREATE INDEX invoices_changed ON invoices (company, updated_at, id)',
  'CREATE UNIQUE INDEX quotes_by_id ON quotes (company, id)',
  'CREATE INDEX quotes_of_status ON quotes (company, status, id)',
  'CREATE INDEX quotes_of_customer ON quotes (company, customer, status, id)',
  'CREATE INDEX quotes_valid ON quotes (company, status, valid_until, id)',
  'CREATE INDEX quotes_changed ON quotes (company, updated_at, id)',
  // The latest version of a quote is its one version that is not revised: `versions=latest` relies on it.
  "CREATE UNIQUE INDEX quotes_latest ON quotes (company, quote_group_id) WHERE status <> 'revised'",
];

/**
 * What PostgreSQL is to know of columns together. Taking them for independent it expects a kind in a status that no
 * document of the company has, and passes all of them in search of one.
 */
function statistics({ name }: Dialect): string[] {
  if (name === 'sqlite') return [];
  const together: Record<string, string> = { invoices: 'company, status, kind', quotes: 'company, status' };
  return Object.entries(together).flatMap(([table, columns]) => [
    `CREATE STATISTICS ${table}_together (mcv) ON ${columns} FROM ${table}`,
    `ALTER STATISTICS ${table}_together SET STATISTICS 1000`,
  ]);
}

/** Processes that share a database share the count of each key's requests; a crash may lose that count. */
function rateCounts({ name }: Dialect): string[] {
  if (name === 'sqlite') return [];
  return [
    'CREATE UNLOGGED TABLE rate_counts (key TEXT PRIMARY KEY, points INTEGER NOT NULL DEFAULT 0, expire BIGINT)',
  ];
}
