import fc from 'fast-check';
import t from 'tap';
import type { Test } from 'tap';

import { createCompany } from '../../../src/server/access/companies.ts';
import type { ResourceRecord } from '../../../src/contract/records.ts';
import { engineNames, keyFor, startEmptyServer, STORY_NOW, type TestServer } from '../../_server.ts';
import { crawl, fullPages, type Query } from './_crawl.ts';
import { expectedList, type Question } from './_naive.ts';
import {
  customerOf,
  customerRef,
  formOf,
  idOf,
  invoiceOf,
  jobOf,
  personOf,
  quoteOf,
  store,
  submissionOf,
  uuidOf,
} from './_records.ts';

const COMPANY = 'crawled';
const present = { now: STORY_NOW, timeZone: 'Europe/Dublin' };
const DAY_MS = 86_400_000;

const dayAt = (index: number) =>
  new Date(Date.parse('2026-11-30T00:00:00Z') - (index % 40) * DAY_MS).toISOString().slice(0, 10);
const timeAt = (index: number) =>
  new Date(Date.parse('2026-11-20T00:00:00Z') - (index % 17) * DAY_MS).toISOString();

/** A company with every state of every record, whose filters cut its lists in all proportions. */
function makeRecords(): ResourceRecord[] {
  const records: ResourceRecord[] = [];
  const range = (count: number) => Array.from({ length: count }, (_value, index) => index);
  for (const index of range(130)) records.push(personOf({ id: idOf('per', index) }));
  for (const index of range(110))
    records.push(customerOf({ id: idOf('cus', index), updatedAt: timeAt(index) }));
  for (const index of range(60)) records.push(formOf({ id: idOf('form', index), updatedAt: timeAt(index) }));
  for (const index of range(160)) records.push(jobOf({ id: idOf('job', index), updatedAt: timeAt(index) }));
  for (const index of range(190)) {
    const formId = idOf('form', index % 3 === 0 ? 1 : 0);
    records.push(submissionOf({ id: idOf('sub', index), formId, createdAt: timeAt(index) }));
  }
  for (const index of range(220)) {
    const isDraft = index % 5 === 0;
    records.push(
      invoiceOf({
        id: uuidOf(index * 16),
        kind: (['invoice', 'credit_note', 'pro_forma'] as const)[index % 3] ?? 'invoice',
        issueDate: isDraft ? null : dayAt(index),
        customer: customerRef(idOf('cus', index % 7 === 0 ? 1 : 0)),
        updatedAt: timeAt(index * 3),
      }),
    );
  }
  records.push(...range(90).flatMap(quoteVersions));
  return records;
}

/** The versions of one quote: one in three was revised once, one in six twice. */
function quoteVersions(group: number): ResourceRecord[] {
  const versions = group % 6 === 0 ? 3 : group % 3 === 0 ? 2 : 1;
  return Array.from({ length: versions }, (_value, index) =>
    quoteOf({
      id: uuidOf(group * 16 + index),
      quoteGroupId: uuidOf(1_000_000 + group),
      version: index + 1,
      status:
        index + 1 < versions
          ? 'revised'
          : ((['draft', 'sent', 'sent', 'sent', 'accepted', 'declined'] as const)[group % 5] ?? 'sent'),
      validUntil: group % 8 === 0 ? null : dayAt(group),
      customer: customerRef(idOf('cus', group % 7 === 0 ? 1 : 0)),
      updatedAt: timeAt(group * 5),
    }),
  );
}

/** Every combination of one value, or none, for each parameter. */
function combinations(choices: Readonly<Record<string, readonly string[]>>): Query[] {
  return Object.entries(choices).reduce<Query[]>(
    (queries, [name, values]) =>
      queries.flatMap((query) => [query, ...values.map((value) => ({ ...query, [name]: value }))]),
    [{}],
  );
}

const updatedSince = ['2026-11-12T00:00:00Z'];
const customer = [idOf('cus', 0), idOf('cus', 1), 'nobody'];
const filtersOf: Readonly<Record<string, readonly Query[]>> = {
  'api/v1/people': [{}],
  'api/v1/jobs': combinations({ updatedSince }),
  'api/v1/forms': combinations({ updatedSince }),
  'api/v1/customers': combinations({ updatedSince }),
  [`api/v1/forms/${idOf('form', 0)}/submissions`]: combinations({ updatedSince }),
  [`api/v1/forms/${idOf('form', 1)}/submissions`]: combinations({ updatedSince }),
  'api/v1/invoices': combinations({
    kind: ['invoice', 'credit_note', 'pro_forma'],
    status: ['issued', 'draft', 'all'],
    customer,
    issuedFrom: ['2026-11-05'],
    issuedTo: ['2026-11-15', '2026-11-01'],
    updatedSince,
  }),
  'api/v1/quotes': combinations({
    status: ['draft', 'sent', 'accepted', 'declined', 'revised', 'expired'],
    customer,
    versions: ['latest', 'all'],
    updatedSince,
  }),
};
const questions: Question[] = Object.entries(filtersOf).flatMap(([path, queries]) =>
  queries.map((query) => ({ path, query })),
);

async function startCrawled(t: Test, name: (typeof engineNames)[number]) {
  const { server, engine } = await startEmptyServer(t, name);
  await createCompany(engine, COMPANY, {}, STORY_NOW);
  return { server, engine, key: await keyFor(engine, COMPANY) };
}

async function crawlAll(t: Test, server: TestServer, key: string, records: readonly ResourceRecord[]) {
  const seed = Date.now() % 1_000_000;
  const limits = fc.sample(fc.integer({ min: 1, max: 100 }), { seed, numRuns: questions.length });
  let nonEmpty = 0;
  for (const [index, question] of questions.entries()) {
    const limit = limits[index] ?? 1;
    const expected = expectedList(records, question, present);
    const { records: met, pageSizes } = await crawl(server, key, { ...question, limits: [limit] });
    if (expected.length > 0) nonEmpty += 1;
    const which = `${question.path} ${JSON.stringify(question.query)} limit ${limit}, seed ${seed}`;
    // One assertion for each of a thousand crawls would bury what a reader looks for.
    if (JSON.stringify(pageSizes) !== JSON.stringify(fullPages(expected.length, limit)))
      t.strictSame(pageSizes, fullPages(expected.length, limit), `pages of ${which}`);
    if (JSON.stringify(met.map(({ id }) => id)) !== JSON.stringify(expected.map(({ id }) => id)))
      t.strictSame(met, expected, which);
  }
  t.comment(`${questions.length} crawls, ${nonEmpty} of them of lists with records`);
  t.ok(nonEmpty > 450, 'most combinations of filters leave something to crawl');
}

for (const name of engineNames) {
  t.test(
    `a crawl meets every record of every list once and in order, whatever its filters and limit (${name})`,
    async (t) => {
      const { server, engine, key } = await startCrawled(t, name);
      const records = makeRecords();
      await store(engine, COMPANY, records);
      await crawlAll(t, server, key, records);
    },
  );

  t.test(`a crawl may change its limit from page to page (${name})`, async (t) => {
    const { server, engine, key } = await startCrawled(t, name);
    const records = makeRecords();
    await store(engine, COMPANY, records);
    const question = { path: 'api/v1/invoices', query: { status: 'all' } };
    const { records: met, pageSizes } = await crawl(server, key, { ...question, limits: [1, 100, 7, 50, 3] });
    t.strictSame(met, expectedList(records, question, present));
    t.strictSame(pageSizes.slice(0, 4), [1, 100, 7, 50]);
  });

  t.test(
    `a crawl meets what was there when it began exactly once while records are being added (${name})`,
    async (t) => {
      const { server, engine, key } = await startCrawled(t, name);
      for (const { path, query, first, added } of growing()) {
        await store(engine, COMPANY, first);
        const question = { path, query };
        const before = expectedList(first, question, present);
        const onPage = async (pages: number) => {
          // The rest is added in ten parts: behind, among and beyond what the crawl has met.
          const part = added.filter((_record, index) => index % 10 === pages - 1);
          if (part.length > 0) await store(engine, COMPANY, part);
        };
        const { records: met, pageSizes } = await crawl(server, key, { path, query, limits: [9], onPage });
        const ids = met.map(({ id }) => id);
        t.ok(pageSizes.length > 12, `${path}: the crawl goes on after the last addition`);
        t.strictSame(ids, [...new Set(ids)].sort(), `${path}: in order, without duplicates`);
        t.strictSame(
          met.filter(({ id }) => before.some((one) => one.id === id)),
          before,
          `${path}: all that was there`,
        );
        const later = expectedList(added, question, present).filter(
          ({ id }) => id > (before.at(-1)?.id ?? ''),
        );
        t.strictSame(met.slice(-later.length), later, `${path}: and what was added at the end`);
        t.ok(later.length > 20);
      }
    },
  );
}

/** Lists with records that are there at first, every third, and records that come while they are crawled. */
function growing() {
  const part = (make: (index: number) => ResourceRecord) => {
    const indexes = Array.from({ length: 330 }, (_value, index) => index);
    const isFirst = (index: number) => index < 270 && index % 3 === 0;
    return {
      first: indexes.filter(isFirst).map(make),
      added: indexes.filter((index) => !isFirst(index)).map(make),
    };
  };
  const issueDate = '2026-11-10';
  return [
    { path: 'api/v1/jobs', query: {}, ...part((index) => jobOf({ id: idOf('job', index) })) },
    {
      path: 'api/v1/customers',
      query: { updatedSince: '2026-10-01T00:00:00Z' },
      ...part((index) => customerOf({ id: idOf('cus', index) })),
    },
    {
      path: 'api/v1/invoices',
      query: { status: 'issued', customer: 'cus_1', issuedFrom: '2026-11-01' },
      ...part((index) =>
        invoiceOf({
          id: uuidOf(index),
          kind: index % 2 ? 'invoice' : 'credit_note',
          issueDate,
        }),
      ),
    },
    {
      path: 'api/v1/quotes',
      query: { versions: 'all', status: 'sent' },
      ...part((index) => quoteOf({ id: uuidOf(index) })),
    },
  ];
}
