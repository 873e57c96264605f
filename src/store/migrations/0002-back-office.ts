import type { Dialect, Migration } from '../migrate.ts';

/**
 * What moves need beside the records: each company's clock, its number series, the changes it has applied, and the
 * events with a delivery for each webhook that wants them.
 */
export const backOffice: Migration = {
  name: '0002-back-office',
  statements: (dialect) => [...companyTables(dialect), ...documentColumns(dialect), ...eventTables(dialect)],
};

/** Small rows that are found by their key alone: in SQLite the key's tree is all they need. */
function keyedTable({ name, table }: Dialect): string {
  return name === 'sqlite' ? `${table}, WITHOUT ROWID` : table;
}

function companyTables(dialect: Dialect): string[] {
  const { name, text, table } = dialect;
  const keyed = keyedTable(dialect);
  return [
    // Apart from `companies`, because every move writes it and a company's row carries its logo.
    `CREATE TABLE company_clocks (
      company ${text} NOT NULL PRIMARY KEY REFERENCES companies (id),
      last_stamp_ms ${name === 'sqlite' ? 'INTEGER' : 'BIGINT'} NOT NULL
    ) ${keyed}`,
    firstStamps(dialect),
    `CREATE TABLE served_clock (
      latest_ms ${name === 'sqlite' ? 'INTEGER' : 'BIGINT'} NOT NULL
    ) ${table}`,
    'INSERT INTO served_clock (latest_ms) VALUES (0)',
    // How the company's documents are numbered, where it isn't as usual.
    `ALTER TABLE companies ADD COLUMN number_formats ${text} NOT NULL DEFAULT '{}'`,
    `CREATE TABLE number_series (
      company ${text} NOT NULL REFERENCES companies (id),
      series ${text} NOT NULL,
      last_number INTEGER NOT NULL,
      PRIMARY KEY (company, series)
    ) ${keyed}`,
    `CREATE TABLE applied_changes (
      company ${text} NOT NULL REFERENCES companies (id),
      id ${text} NOT NULL,
      change ${text} NOT NULL,
      PRIMARY KEY (company, id)
    ) ${keyed}`,
    `CREATE TABLE logos (
      company ${text} NOT NULL REFERENCES companies (id),
      sha256 ${text} NOT NULL,
      data_url ${text} NOT NULL,
      PRIMARY KEY (company, sha256)
    ) ${table}`,
  ];
}

/** A company's clock goes on from the latest change of its records. */
function firstStamps({ name }: Dialect): string {
  const latest = ['customers', 'forms', 'jobs', 'invoices', 'quotes']
    .map((records) => `SELECT MAX(updated_at) AS at FROM ${records} WHERE company = companies.id`)
    .concat('SELECT MAX(created_at) AS at FROM submissions WHERE company = companies.id')
    .join(' UNION ALL ');
  const milliseconds =
    name === 'sqlite'
      ? "CAST(ROUND(unixepoch(MAX(at), 'subsec') * 1000) AS INTEGER)"
      : 'CAST(EXTRACT(EPOCH FROM CAST(MAX(at) AS TIMESTAMPTZ)) * 1000 AS BIGINT)';
  return `INSERT INTO company_clocks (company, last_stamp_ms)
    SELECT id, COALESCE((SELECT ${milliseconds} FROM (${latest}) AS changes), 0) FROM companies`;
}

function documentColumns({ json }: Dialect): string[] {
  return [
    `ALTER TABLE invoices ADD COLUMN unpublished ${json} NOT NULL DEFAULT '{}'`,
    `ALTER TABLE quotes ADD COLUMN unpublished ${json} NOT NULL DEFAULT '{}'`,
    // The last line of defence: a number is given out under the company's lock, and never twice.
    `CREATE UNIQUE INDEX invoices_numbered ON invoices (company, (body ->> 'number')) WHERE status = 'issued'`,
  ];
}

function eventTables(dialect: Dialect): string[] {
  const { text, json, table } = dialect;
  const keyed = keyedTable(dialect);
  return [
    `CREATE TABLE webhooks (
      company ${text} NOT NULL REFERENCES companies (id),
      id ${text} NOT NULL,
      url ${text} NOT NULL,
      events ${text} NOT NULL,
      secret ${text} NOT NULL,
      created_at ${text} NOT NULL,
      PRIMARY KEY (company, id)
    ) ${table}`,
    `CREATE TABLE events (
      id ${text} NOT NULL PRIMARY KEY,
      company ${text} NOT NULL REFERENCES companies (id),
      kind ${text} NOT NULL,
      created_at ${text} NOT NULL,
      data ${json} NOT NULL
    ) ${table}`,
    // The key is what lists walk. In SQLite it is the table itself: an event goes to ten webhooks, and each further
    // tree is ten more pages to write. Events and their deliveries go at the same age, so none refers to the other.
    `CREATE TABLE deliveries (
      company ${text} NOT NULL,
      webhook ${text} NOT NULL,
      id ${text} NOT NULL,
      event ${text} NOT NULL,
      state ${text} NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
      attempt_count INTEGER NOT NULL DEFAULT 0,
      due_at ${text} NOT NULL,
      PRIMARY KEY (company, webhook, id),
      FOREIGN KEY (company, webhook) REFERENCES webhooks (company, id)
    ) ${keyed}`,
    "CREATE INDEX deliveries_waiting ON deliveries (company, webhook, due_at) WHERE state = 'waiting'",
  ];
}
