import {
  bigInteger,
  company,
  type Column,
  computed,
  recordText,
  orElse,
  orNull,
  defineTable,
  text,
} from './table.ts';

/*
 * The API's records, stored as the JSON text that it serves, and the indexes of their lists. `body ->> 'member'` means the
 * same on both engines.
 *
 * A list without ranges scans, in id order, an index that begins with the columns of its filters. A list with ranges scans a
 * range's index, or all rows in id order. Both indexes hold every column that such a list may filter by, so that rows
 * that don't match are skipped without being read (../lists/lists.ts).
 */

const member = (path: string) => computed(path, { of: text });
const id = member("body ->> 'id'");
const updated_at = member("body ->> 'updatedAt'");
const status = member("body ->> 'status'");
const customer = member("body -> 'customer' ->> 'id'");
/** The digest of the record's entire text. */
const digest = text;
/** JSON of a document's or customer's data that the API doesn't show. */
const unpublished = orElse(recordText, "'{}'");
/** JSON object with the members that lists leave out; joined to `body` when a single document is read. */
const detail = recordText;
const key = ['company', 'id'] as const;

const people = defineTable({
  name: 'people',
  columns: { company, id, digest, body: recordText },
  key,
});

/** Returns the indexes for lists by a range of `updatedAt`. */
const byChange = (name: string) => ({
  [`${name}_walked`]: '(company, id, updated_at)',
  [`${name}_changed`]: '(company, updated_at, id)',
});

const customers = defineTable({
  name: 'customers',
  columns: { company, id, updated_at, digest, unpublished, body: recordText },
  key,
  indexes: {
    ...byChange('customers'),
    customers_searched: (engine) => `(company, (${searchable(engine, "body ->> 'name'")}), id)`,
  },
});

const forms = defineTable({
  name: 'forms',
  columns: { company, id, updated_at, digest, body: recordText },
  key,
  indexes: byChange('forms'),
});

const jobs = defineTable({
  name: 'jobs',
  columns: { company, id, updated_at, digest, body: recordText },
  key,
  indexes: byChange('jobs'),
});

const submissions = defineTable({
  name: 'submissions',
  columns: {
    ...{ company, id, digest },
    form_id: member("body ->> 'formId'"),
    created_at: member("body ->> 'createdAt'"),
    body: recordText,
  },
  key,
  indexes: {
    submissions_of_form: '(company, form_id, id, created_at)',
    submissions_walked: '(company, id, created_at, form_id)',
    submissions_created: '(company, created_at, id, form_id)',
  },
});

/** Creates a column that SQLite stores only in the search index. */
const searched = <Stored>(of: Column<Stored>, path: string) => computed(path, { of, isKept: false });

/** 64-bit integer, which PostgreSQL's driver returns as text. */
const amount = bigInteger as Column as Column<number | string>;
const minor = (path: string) => `CAST(${path} AS BIGINT)`;

const invoices = defineTable({
  name: 'invoices',
  columns: {
    ...{ company, id, digest },
    kind: member("body ->> 'kind'"),
    status,
    customer,
    issue_date: computed("body ->> 'issueDate'", { of: orNull(text) }),
    updated_at,
    /** Sort key: the issue date (for a draft, the creation date) followed by the id. */
    place: searched(
      text,
      "COALESCE(body ->> 'issueDate', substr(body ->> 'createdAt', 1, 10)) || (body ->> 'id')",
    ),
    currency: searched(text, "body ->> 'currency'"),
    due_date: searched(orNull(text), "body ->> 'dueDate'"),
    gross_minor: searched(amount, minor("body -> 'totals' ->> 'grossMinor'")),
    /** The balance due; null unless it is an issued invoice. */
    balance_minor: searched(
      orNull(amount),
      `${minor("detail ->> 'amountDueMinor'")} - ${minor("detail ->> 'creditBalanceMinor'")}`,
    ),
    /** The amount paid less refunds; computed by rendering, like `search_words` (../search-columns.ts). */
    paid_minor: orElse(amount, '0'),
    search_words: orElse(text, "''"),
    unpublished,
    detail,
    body: recordText,
  },
  key,
  uniqueIndexes: {
    // The last line of defence: numbers are allocated under the company's lock, and never twice.
    invoices_numbered: "(company, (body ->> 'number'), kind) WHERE status = 'issued'",
  },
  indexes: {
    invoices_of_kind: '(company, status, kind, id, updated_at, issue_date)',
    invoices_of_customer: '(company, customer, status, kind, id, updated_at, issue_date)',
    invoices_walked: '(company, id, updated_at, issue_date, status, kind, customer)',
    invoices_issued: '(company, issue_date, id, status, kind, customer, updated_at)',
    invoices_changed: '(company, updated_at, id, status, kind, customer, issue_date)',
    // All columns that a search uses, and the amounts due: scanning this index answers any search and its totals, and only
    // the documents shown are read. Rows that share a total are adjacent, because SQLite would otherwise sort all entries.
    invoices_searched:
      '(company, status, kind, currency, place, gross_minor, balance_minor, paid_minor, due_date, customer, search_words)',
    // Lets overdue invoices be read without the others (../../features/documents/overdue.ts).
    invoices_due: '(company, due_date, currency, balance_minor) WHERE balance_minor > 0',
  },
});

const quotes = defineTable({
  name: 'quotes',
  columns: {
    ...{ company, id, digest },
    quote_group_id: member("body ->> 'quoteGroupId'"),
    status,
    customer,
    /** The last day of validity; `9999-12-31` if there is none, so that a comparison never meets a null. */
    valid_until: member("COALESCE(body ->> 'validUntil', '9999-12-31')"),
    updated_at,
    unpublished,
    detail,
    body: recordText,
  },
  key,
  uniqueIndexes: {
    // The latest version of a quote is its one version that is not revised: `versions=latest` relies on it.
    quotes_latest: "(company, quote_group_id) WHERE status <> 'revised'",
  },
  indexes: {
    quotes_of_status: '(company, status, id, updated_at, valid_until)',
    quotes_of_customer: '(company, customer, status, id, updated_at, valid_until)',
    quotes_walked: '(company, id, updated_at, valid_until, status, customer)',
    quotes_valid: '(company, valid_until, id, status, customer, updated_at)',
    quotes_changed: '(company, updated_at, id, status, customer, valid_until)',
    quotes_numbered: "(company, (body ->> 'number'))",
  },
});

/** The tables of the contract's records, in order of dependency: referenced tables come first. */
export const recordTables = [people, customers, forms, jobs, submissions, invoices, quotes] as const;

/** Returns an SQL expression, for searches, that lower-cases only a column's ASCII letters, as both engines can. */
export function searchable(engine: 'sqlite' | 'postgres', column: string): string {
  return engine === 'sqlite' ? `lower(${column})` : `lower((${column}) COLLATE "C")`;
}
