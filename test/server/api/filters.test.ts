// Long: it asks for every value of every filter, and for pairs, on each engine.
/*
 * Lists of records that are odd in every way that the contract allows; the suite asks the example companies (test/contract), and
 * quote-expiry.test.ts turns days in every time zone.
 */
import t from 'tap';

import type { ResourceRecord } from '../../../src/contract/records.ts';
import { filtersOf } from '../../contract/_filters.ts';
import { engineNames, STORY_NOW } from '../../_server.ts';
import { crawl, fullPages, type Query } from './_crawl.ts';
import { expectedList } from './_naive.ts';
import {
  customerOf,
  customerRef,
  formOf,
  invoiceOf,
  jobOf,
  personOf,
  quoteOf,
  startAcme,
  submissionOf,
  uuidOf,
} from './_records.ts';

const words = (text: string) => text.trim().split(/\s+/);

/** Ids that order, escape and compare in every odd way, and as long as they get. */
const ids = [...words('A a Z z 0 9 a. a- a_ a: aA aa a0 B:b 1:2.3_4-5 form_1 Form_1'), 'a'.padEnd(64, 'Z')];
const forms = ['form_1', 'Form_1'];
const customers = words('cus_1 CUS_1 cus_1.').map(customerRef);
/** Both sides of whatever a comparison could get wrong: years, days, seconds, a leap second. */
const moments = words(`
  0001-01-01T00:00:00.000Z 1969-12-31T23:59:59.999Z 2016-12-31T23:59:59.999Z 2017-01-01T00:00:00.000Z
  2026-03-29T00:59:59.999Z 2026-03-29T01:00:00.000Z 2026-11-19T23:59:59.999Z 2026-11-20T00:00:00.000Z
  2026-11-20T00:00:00.001Z 2026-11-20T12:00:00.000Z 9999-12-31T23:59:59.999Z
`);
/** Times that are written beyond them, or more finely. */
const farthest = words(`
  0000-01-01T00:00:00Z 0001-01-01T00:00:00+14:00 9999-12-31T23:59:59.999-01:00 2016-12-31T23:59:60Z
  2017-01-01T00:59:60+01:00 2016-12-31T23:59:60.5Z 2016-12-31T23:59:59.999000001Z 2016-12-31t23:59:59.9990z
`);
const days = [null, ...words('2024-02-29 2026-03-28 2026-03-29 2026-10-25 2026-12-31')];
/** A text search for the status could stumble over these titles. */
const titles = ['","status":"sent","validUntil":"2020-01-01', 'Ünïcode \u{1f600} "'];

const at = <T>(all: readonly T[], index: number) => all[index % all.length] as T;
/** Every record of one list with each value of another. */
const times = <A, B>(all: readonly A[], others: readonly B[]) =>
  all.flatMap((one) => others.map((other) => [one, other] as const));

const simple = ids.flatMap((id, index) => {
  const updatedAt = at(moments, index);
  const submission = submissionOf({ id, formId: at(forms, index), createdAt: updatedAt });
  const others = [jobOf, customerOf, formOf].map((make) => make({ id, updatedAt }));
  return [personOf({ id }), submission, ...others];
});
const invoices = times(times(['invoice', 'credit_note', 'pro_forma'] as const, days), customers).map(
  ([[kind, issueDate], customer], index) =>
    // Ids don't follow the order of anything else.
    invoiceOf({ id: uuidOf((index * 37) % 101), kind, issueDate, customer, updatedAt: at(moments, index) }),
);
const quotes = times(times(['draft', 'sent', 'accepted', 'declined'] as const, days), customers).flatMap(
  ([[status, validUntil], customer], index) => {
    const common = { quoteGroupId: uuidOf(index), customer, validUntil, title: at(titles, index) };
    const updatedAt = at(moments, index);
    const latest = { ...common, id: uuidOf(1_000 + ((index * 37) % 101)), status, updatedAt };
    // Every other quote has an older version.
    if (index % 2 === 0) return [quoteOf(latest)];
    const older = { ...common, id: uuidOf(500 + index), status: 'revised' as const };
    return [quoteOf(older), quoteOf({ ...latest, version: 2, supersedesQuoteId: older.id })];
  },
);
const records: ResourceRecord[] = [...simple, ...invoices, ...quotes];

const lists = {
  'api/v1/people': ['listPeople', 'people'],
  'api/v1/jobs': ['listJobs', 'jobs'],
  'api/v1/forms': ['listForms', 'forms'],
  'api/v1/customers': ['listCustomers', 'customers'],
  'api/v1/forms/form_1/submissions': ['listFormSubmissions', 'submissions'],
  'api/v1/forms/Form_1/submissions': ['listFormSubmissions', 'submissions'],
  'api/v1/invoices': ['listInvoices', 'invoices'],
  'api/v1/quotes': ['listQuotes', 'quotes'],
} as const;

/** A list with each value of each filter, and with a few of each pair. */
function queriesOf([operationId, resource]: (typeof lists)[keyof typeof lists]): Query[] {
  const own = records.filter((one) => one.resource === resource).map(({ record }) => ({ ...record }));
  const filters = filtersOf(operationId, own).map(({ name, values }) =>
    [...values, ...(name === 'updatedSince' ? farthest : [])]
      // A millisecond after the end of time is none.
      .filter((value) => !value.startsWith('+'))
      .map((value) => ({ [name]: value })),
  );
  const few = filters.map((values) =>
    values.filter((_value, index) => index % Math.ceil(values.length / 4) === 0),
  );
  const pairs = few.flatMap((values, index) =>
    few
      .slice(index + 1)
      .flatMap((others) => times(values, others).map(([one, other]) => ({ ...one, ...other }))),
  );
  return [{}, ...filters.flat(), ...pairs];
}

for (const name of engineNames) {
  t.test(
    `every list with any filters equals a plain filter of the company's records (${name})`,
    async (t) => {
      const { server, key } = await startAcme(t, records, [name]);
      let asked = 0;
      const compare = async (path: string, query: Query) => {
        const limit = at([100, 33, 7, 50], asked++);
        const { records: met, pageSizes } = await crawl(server, key, { path, query, limits: [limit] });
        const expected = expectedList(
          records,
          { path, query },
          { now: STORY_NOW, timeZone: 'Europe/Dublin' },
        );
        const what = `${path} ${JSON.stringify(query)} by ${limit}`;
        t.strictSame(
          { met, pageSizes },
          { met: expected, pageSizes: fullPages(expected.length, limit) },
          what,
        );
      };
      for (const [path, list] of Object.entries(lists)) {
        for (const query of queriesOf(list)) await compare(path, query);
      }
    },
  );
}
