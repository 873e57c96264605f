// It takes longer than others: it fills each engine with 17,000 records.
import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import type { ResourceRecord } from '../../../../src/contract/records.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { type InvoiceFilters, invoicesPage } from '../../../../src/server/store/records/invoices.ts';
import type { Connection } from '../../../../src/server/store/dialects/dialect.ts';
import { withDialect, withQueriesThrough } from '../_queries.ts';
import type { ListPage, PageRequest } from '../../../../src/server/store/lists/lists.ts';
import { quotesPage } from '../../../../src/server/store/records/quotes.ts';
import { submissionsPage, listRecords } from '../../../../src/server/store/records/records.ts';
import { STORY_NOW } from '../../../_server.ts';
import { onEachStore } from '../_stores.ts';
import { expectedList } from '../../api/_naive.ts';
import {
  customerOf,
  customerRef,
  idOf,
  invoiceOf,
  jobOf,
  quoteOf,
  store,
  submissionOf,
  uuidOf,
} from '../../api/_records.ts';
import { kindOf } from './_list-statements.ts';

const COMPANY = 'large';
const today = '2026-11-20';
const INVOICES = 2_600;
const CUSTOMERS = 4_200;

const stamp = (index: number) => new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString();
/** The time from which on exactly so many of the records, of which the last are the latest, were changed. */
const sinceLast = (count: number) => stamp(INVOICES - count);

/** More than a reader sorts; but for the customers, the newest records are not those with the highest ids. */
function makeRecords(): ResourceRecord[] {
  const indexes = Array.from({ length: INVOICES }, (_value, index) => index);
  const idIndex = (index: number) => (index * 1_613) % INVOICES;
  return [
    ...indexes.map((index) => jobOf({ id: idOf('job', idIndex(index)), updatedAt: stamp(index) })),
    ...Array.from({ length: CUSTOMERS }, (_value, index) =>
      customerOf({ id: idOf('cus', index), updatedAt: stamp(index) }),
    ),
    ...indexes.map((index) =>
      submissionOf({
        id: idOf('sub', idIndex(index)),
        formId: index % 5 === 0 ? 'form_2' : 'form_1',
        createdAt: stamp(index),
      }),
    ),
    ...indexes.map((index) =>
      invoiceOf({
        id: uuidOf(idIndex(index)),
        kind: index % 4 === 0 ? 'credit_note' : 'invoice',
        issueDate: index % 10 === 0 ? null : index < 1_300 ? '2026-10-01' : '2026-11-10',
        customer: customerRef(index % 50 === 0 ? 'cus_rare' : 'cus_1'),
        updatedAt: stamp(index),
      }),
    ),
    ...indexes.map((index) =>
      quoteOf({
        id: uuidOf(idIndex(index)),
        status: index % 100 === 0 ? 'draft' : 'sent',
        validUntil: index % 2 === 0 ? '2026-11-19' : '2026-11-20',
        customer: customerRef(index % 50 === 0 ? 'cus_rare' : 'cus_1'),
        updatedAt: stamp(index),
      }),
    ),
  ];
}

type List = (db: Connection, page: PageRequest) => Promise<ListPage<unknown>>;
interface Case {
  path: string;
  query: Record<string, string>;
  /** How the pages are read, in this order, however many there are of each kind. */
  plans: string;
  list: List;
}

/** A list of a table that has no other filter. */
function plain(table: 'jobs' | 'customers', updatedSince: string | undefined, plans: string): Case {
  const query: Case['query'] = updatedSince === undefined ? {} : { updatedSince };
  const list: List = (db, page) => listRecords(db, table, COMPANY, updatedSince, page);
  return { path: `api/v1/${table}`, query, plans, list };
}

const jobs = (count: number, plans: string) => plain('jobs', sinceLast(count), plans);

/** The customers in a row of their ids that were changed last. */
const customers = (count: number, plans: string) => plain('customers', stamp(CUSTOMERS - count), plans);

function submissions(count: number, plans: string): Case {
  const updatedSince = sinceLast(count);
  return {
    path: 'api/v1/forms/form_1/submissions',
    query: { updatedSince },
    plans,
    list: (db, page) => submissionsPage(db, COMPANY, 'form_1', updatedSince, page),
  };
}

function invoices(query: Record<string, string>, plans: string): Case {
  // The names and values are those of the filters.
  const filters = { status: 'issued', ...query } as InvoiceFilters;
  return {
    path: 'api/v1/invoices',
    query,
    plans,
    list: (db, page) => invoicesPage(db, COMPANY, filters, page),
  };
}

function quotes(query: Record<string, string>, plans: string): Case {
  const filters = { versions: 'latest', ...query } as Parameters<typeof quotesPage>[3];
  return {
    path: 'api/v1/quotes',
    query,
    plans,
    list: (db, page) => quotesPage(db, COMPANY, today, filters, page),
  };
}

const cases: Case[] = [
  plain('jobs', undefined, 'scan'),
  jobs(0, 'sort'),
  jobs(1_000, 'sort'),
  jobs(1_001, 'slice'),
  jobs(INVOICES, 'slice'),
  customers(1_000, 'sort'),
  customers(1_001, 'slice'),
  customers(2_100, 'slice'),
  customers(2_300, 'slice'),
  submissions(500, 'sort'),
  submissions(2_000, 'slice'),
  invoices({}, 'scan'),
  invoices({ kind: 'invoice', customer: 'cus_rare' }, 'scan'),
  invoices({ updatedSince: sinceLast(1_000) }, 'sort'),
  invoices({ updatedSince: sinceLast(1_002) }, 'slice'),
  invoices({ updatedSince: sinceLast(1_500), issuedFrom: '2026-11-02' }, 'slice'),
  invoices({ updatedSince: sinceLast(1_500), issuedTo: '2026-11-01' }, 'slice'),
  invoices({ updatedSince: sinceLast(2_000), issuedFrom: '2026-11-30' }, 'sort'),
  invoices({ updatedSince: sinceLast(900), issuedFrom: '2026-09-01', kind: 'credit_note' }, 'sort'),
  invoices({ status: 'all', updatedSince: sinceLast(1_400), customer: 'cus_rare' }, 'sort'),
  invoices({ status: 'all', updatedSince: sinceLast(1_400), customer: 'cus_1' }, 'slice'),
  invoices({ issuedFrom: '2026-10-01', issuedTo: '2026-10-31', status: 'all' }, 'slice'),
  invoices({ issuedFrom: '2026-11-30', issuedTo: '2026-10-01' }, 'sort'),
  quotes({}, 'scan'),
  quotes({ status: 'expired' }, 'slice'),
  quotes({ status: 'sent' }, 'slice'),
  quotes({ status: 'sent', updatedSince: sinceLast(800) }, 'sort'),
  quotes({ status: 'expired', updatedSince: sinceLast(2_500), customer: 'cus_rare' }, 'sort'),
  quotes({ updatedSince: sinceLast(1_100), versions: 'all' }, 'slice'),
];

function observed(engine: Engine): { db: Connection; kinds: string[] } {
  const kinds: string[] = [];
  const { db } = withQueriesThrough(engine, (query, run) => {
    kinds.push(kindOf(query.sql));
    return run();
  });
  return { db, kinds };
}

async function crawl(db: Connection, list: List): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null = '';
  while (after !== null) {
    const page: ListPage<unknown> = await list(db, { after, limit: 97 });
    ids.push(...page.records.map(({ body }) => (JSON.parse(body) as { id: string }).id));
    if (page.lastId !== null && page.lastId <= after) throw new Error('The list does not go on.');
    after = page.lastId;
  }
  return ids;
}

onEachStore('a list is whole, whatever matches and wherever it is', async (t, { engine }) => {
  await createCompany(engine, COMPANY, {}, STORY_NOW);
  await createCompany(engine, 'neighbour', {}, STORY_NOW);
  const records = makeRecords();
  await store(engine, COMPANY, records);
  // The same ids in another company, as different as a filter can tell.
  await store(engine, 'neighbour', records.slice(0, 50));
  const { db: observedDb, kinds } = observed(engine);
  const { slice } = engine.dialect;
  const db = withDialect(observedDb, { sortedMax: 1_000, slice: slice && 700 });
  for (const { path, query, plans, list } of cases) {
    kinds.length = 0;
    const found = await crawl(db, list);
    const expected = expectedList(records, { path, query }, { now: STORY_NOW, timeZone: 'UTC' });
    const which = `${path} ${JSON.stringify(query)}: ${expected.length} records`;
    const ids = expected.map(({ id }) => id);
    t.strictSame(found, ids, which);
    const used = new Set(kinds.filter((kind) => kind !== 'count' && kind !== 'slice end'));
    t.equal([...used].join(' '), plans, `${which}, read by ${plans}`);
  }
});
