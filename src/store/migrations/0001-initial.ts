import type { Migration } from '../migrate.ts';

/**
 * Companies, keys and the records of the API.
 *
 * `body ->> 'member'` and `GENERATED ALWAYS AS (...) STORED` mean the same on both engines. Text compares byte by
 * byte on both (SQLite's BINARY, PostgreSQL's "C"), so both give one order of ids. Every list walks an index in id
 * order: the one by id, or one that begins with the filtered columns and ends with the id. The indexes that
 * begin with a time or a day serve the range filters (see ../lists.ts).
 *
 * Record tables keep SQLite's rowid: records of one to two kilobytes would make a tree without rowids deep.
 */
export const initial: Migration = {
  name: '0001-initial',
  statements: ({ name: engine, text, json, table }) => {
    const member = (name: string, type = text) => `${type} GENERATED ALWAYS AS (body ->> '${name}') STORED`;
    const records = (name: string, columns: string[] = []) => `
      CREATE TABLE ${name} (
        company ${text} NOT NULL REFERENCES companies (id),
        id ${member('id')} NOT NULL,
        ${columns.map((column) => `${column},`).join('\n')}
        body ${json} NOT NULL
      ) ${table}`;
    // A generated column can't be part of a primary key in SQLite; a unique index serves the same.
    const byId = (name: string) => `CREATE UNIQUE INDEX ${name}_by_id ON ${name} (company, id)`;
    const updatedAt = `updated_at ${member('updatedAt')} NOT NULL`;
    const customer = `customer ${text} GENERATED ALWAYS AS (body -> 'customer' ->> 'id') STORED NOT NULL`;
    const status = `status ${member('status')} NOT NULL`;
    const flag = 'INTEGER NOT NULL CHECK';
    return [
      `CREATE TABLE companies (
        id ${text} PRIMARY KEY,
        name ${text} NOT NULL,
        api_enabled ${flag} (api_enabled IN (0, 1)),
        subscription_active ${flag} (subscription_active IN (0, 1)),
        invoicing_enabled ${flag} (invoicing_enabled IN (0, 1)),
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
      records('people'),
      records('customers', [updatedAt]),
      records('forms', [updatedAt]),
      records('jobs', [updatedAt]),
      records('submissions', [`form_id ${member('formId')} NOT NULL`, `created_at ${member('createdAt')} NOT NULL`]),
      records('invoices', [
        `kind ${member('kind')} NOT NULL`,
        status,
        customer,
        `issue_date ${member('issueDate')}`,
        updatedAt,
        `detail ${json} NOT NULL`,
      ]),
      records('quotes', [
        `quote_group_id ${member('quoteGroupId')} NOT NULL`,
        status,
        customer,
        `valid_until ${text} GENERATED ALWAYS AS (COALESCE(body ->> 'validUntil', '9999-12-31')) STORED NOT NULL`,
        updatedAt,
        `detail ${json} NOT NULL`,
      ]),
      ...['people', 'customers', 'forms', 'jobs', 'submissions', 'invoices', 'quotes'].map(byId),
      `CREATE INDEX customers_changed ON customers (company, updated_at, id)`,
      `CREATE INDEX forms_changed ON forms (company, updated_at, id)`,
      `CREATE INDEX jobs_changed ON jobs (company, updated_at, id)`,
      `CREATE INDEX submissions_of_form ON submissions (company, form_id, id)`,
      `CREATE INDEX submissions_created ON submissions (company, form_id, created_at, id)`,
      `CREATE INDEX invoices_of_kind ON invoices (company, status, kind, id)`,
      `CREATE INDEX invoices_of_customer ON invoices (company, customer, status, kind, id)`,
      `CREATE INDEX invoices_issued ON invoices (company, issue_date, id)`,
      `CREATE INDEX invoices_changed ON invoices (company, updated_at, id)`,
      `CREATE INDEX quotes_of_status ON quotes (company, status, id)`,
      `CREATE INDEX quotes_of_customer ON quotes (company, customer, status, id)`,
      `CREATE INDEX quotes_valid ON quotes (company, status, valid_until, id)`,
      `CREATE INDEX quotes_changed ON quotes (company, updated_at, id)`,
      // The latest version of a quote is its one version that is not revised: `versions=latest` relies on it.
      `CREATE UNIQUE INDEX quotes_latest ON quotes (company, quote_group_id) WHERE status <> 'revised'`,
      // Processes that share a database share the count of each key's requests; a crash may lose that count.
      ...(engine === 'postgres'
        ? ['CREATE UNLOGGED TABLE rate_counts (key TEXT PRIMARY KEY, points INTEGER NOT NULL DEFAULT 0, expire BIGINT)']
        : []),
    ];
  },
};
