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
 * The records of the API, which hold the text that it serves, and the indexes of their lists. `body ->> 'member'` means the same
 * on both engines.
 *
 * A list without ranges walks an index in id order that begins with the columns that its filters fix. One with ranges reads the
 * index of a range, or walks all rows in id order: either index holds every column that such a list may ask for, so that rows
 * that don't match are passed over without being read (../lists/lists.ts).
 */

const member = (path: string) => computed(path, { of: text });
const id = member("body ->> 'id'");
const updated_at = member("body ->> 'updatedAt'");
const status = member("body ->> 'status'");
const customer = member("body -> 'customer' ->> 'id'");
/** Digest of the record's whole text. */
const digest = text;
/** JSON of the facts that the document or the customer needs and the API doesn't show. */
const unpublished = orElse(recordText, "'{}'");
/** The members that only the detail has, as an object's text; joined to `body` when one document is read. */
const detail = recordText;
/** Unique with the company in each table of records. */
const key = ['company', 'id'] as const;

const people = defineTable({
  name: 'people',
  columns: { company, id, digest, body: recordText },
  key,
});

/** The lists by a range of the last change, of all records alike that have one. */
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

/** A column that only the index of the search holds in SQLite. */
const searched = <Stored>(of: Column<Stored>, path: string) => computed(path, { of, isKept: false });

/** 64 bits, which PostgreSQL's driver gives as text. */
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
    /** The day of issue, or of a draft the day when it was made, and the id. */
    place: searched(
      text,
      "COALESCE(body ->> 'issueDate', substr(body ->> 'createdAt', 1, 10)) || (body ->> 'id')",
    ),
    currency: searched(text, "body ->> 'currency'"),
    due_date: searched(orNull(text), "body ->> 'dueDate'"),
    gross_minor: searched(amount, minor("body -> 'totals' ->> 'grossMinor'")),
    /** Null unless it is an issued invoice. */
    balance_minor: searched(
      orNull(amount),
      `${minor("detail ->> 'amountDueMinor'")} - ${minor("detail ->> 'creditBalanceMinor'")}`,
    ),
    /** Rendering fills this and the words (../search-columns.ts). */
    paid_minor: orElse(amount, '0'),
    search_words: orElse(text, "''"),
    unpublished,
    detail,
    body: recordText,
  },
  key,
  uniqueIndexes: {
    // The last line of defence: a number is given out under the company's lock, and never twice.
    invoices_numbered: "(company, (body ->> 'number'), kind) WHERE status = 'issued'",
  },
  indexes: {
    invoices_of_kind: '(company, status, kind, id, updated_at, issue_date)',
    invoices_of_customer: '(company, customer, status, kind, id, updated_at, issue_date)',
    invoices_walked: '(company, id, updated_at, issue_date, status, kind, customer)',
    invoices_issued: '(company, issue_date, id, status, kind, customer, updated_at)',
    invoices_changed: '(company, updated_at, id, status, kind, customer, issue_date)',
    // All that documents are found by, and the amounts due of them: a scan of it answers any search, with its totals, and reads no
    // document but those that are shown. What has a total in common stands together, because SQLite would sort all entries.
    invoices_searched:
      '(company, status, kind, currency, place, gross_minor, balance_minor, paid_minor, due_date, customer, search_words)',
    // Overdue invoices are read without the rest (../../features/documents/overdue.ts).
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
    /** `9999-12-31` for a quote without an end, so that a comparison never meets a null. */
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

/** The tables of the contract's records: what a table refers to comes before it. */
export const recordTables = [people, customers, forms, jobs, submissions, invoices, quotes] as const;

/** Capitals of the basic alphabet don't matter in a search; both engines take text byte by byte, and change no others. */
export function searchable(engine: 'sqlite' | 'postgres', column: string): string {
  return engine === 'sqlite' ? `lower(${column})` : `lower((${column}) COLLATE "C")`;
}
