import t from 'tap';

import { createCompany } from '../../../src/server/access/companies.ts';
import type { ResourceRecord } from '../../../src/contract/records.ts';
import { keyFor, startEmptyServer, STORY_NOW } from '../../_server.ts';
import { crawl, type Query } from './_crawl.ts';
import { expectedList } from './_naive.ts';
import { customerOf, idOf, invoiceOf, jobOf, quoteOf, store, uuidOf } from './_records.ts';

const COMPANY = 'crawled';
const present = { now: STORY_NOW, timeZone: 'Europe/Dublin' };

t.test('a crawl meets what was there when it began exactly once while records are being added', async (t) => {
  const { server, engine } = await startEmptyServer(t, 'sqlite');
  await createCompany(engine, COMPANY, {}, STORY_NOW);
  const key = await keyFor(engine, COMPANY);
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
    const later = expectedList(added, question, present).filter(({ id }) => id > (before.at(-1)?.id ?? ''));
    t.strictSame(met.slice(-later.length), later, `${path}: and what was added at the end`);
    t.ok(later.length > 20);
  }
});

/** Lists with records that are there at first, every third, and records that come while they are crawled. */
function growing() {
  const indexes = Array.from({ length: 330 }, (_value, index) => index);
  const isFirst = (index: number) => index < 270 && index % 3 === 0;
  const kindOf = (index: number) => (index % 2 ? 'invoice' : 'credit_note');
  const issued = (index: number) =>
    ({ id: uuidOf(index), kind: kindOf(index), issueDate: '2026-11-10' }) as const;
  const lists: [path: string, query: Query, make: (index: number) => ResourceRecord][] = [
    ['jobs', {}, (index) => jobOf({ id: idOf('job', index) })],
    [
      'customers',
      { updatedSince: '2026-10-01T00:00:00Z' },
      (index) => customerOf({ id: idOf('cus', index) }),
    ],
    [
      'invoices',
      { status: 'issued', customer: 'cus_1', issuedFrom: '2026-11-01' },
      (index) => invoiceOf(issued(index)),
    ],
    ['quotes', { versions: 'all', status: 'sent' }, (index) => quoteOf({ id: uuidOf(index) })],
  ];
  return lists.map(([list, query, make]) => ({
    ...{ path: `api/v1/${list}`, query },
    first: indexes.filter(isFirst).map(make),
    added: indexes.filter((index) => !isFirst(index)).map(make),
  }));
}
