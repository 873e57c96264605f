import t from 'tap';

import { createCompany } from '../../../src/server/access/companies.ts';
import { keyFor, startEmptyServer, STORY_NOW } from '../../_server.ts';
import { crawl } from './_crawl.ts';
import { expectedList } from './_naive.ts';
import { invoiceOf, store, uuidOf } from './_records.ts';

const COMPANY = 'crawled';
const present = { now: STORY_NOW, timeZone: 'Europe/Dublin' };
const invoices = Array.from({ length: 330 }, (_value, index) =>
  invoiceOf({ id: uuidOf(index), kind: index % 2 ? 'invoice' : 'credit_note', issueDate: '2026-11-10' }),
);
/** Those that are there at first, every third, and those that come while they are crawled. */
const first = invoices.slice(0, 270).filter((_one, index) => index % 3 === 0);
const added = invoices.filter((one) => !first.includes(one));

t.test('a crawl meets what was there when it began exactly once while records are being added', async (t) => {
  const { server, engine } = await startEmptyServer(t, 'sqlite');
  await createCompany(engine, COMPANY, {}, STORY_NOW);
  const key = await keyFor(engine, COMPANY);
  await store(engine, COMPANY, first);
  const question = {
    path: 'api/v1/invoices',
    query: { status: 'issued', customer: 'cus_1', issuedFrom: '2026-11-01' },
  };
  const before = expectedList(first, question, present);
  const onPage = async (pages: number) => {
    // The rest is added in ten parts: behind, among and beyond what the crawl has met.
    const part = added.filter((_record, index) => index % 10 === pages - 1);
    if (part.length > 0) await store(engine, COMPANY, part);
  };
  const { records: met, pageSizes } = await crawl(server, key, { ...question, limits: [9], onPage });
  const ids = met.map(({ id }) => id);
  t.ok(pageSizes.length > 12, 'the crawl goes on after the last addition');
  t.strictSame(ids, [...new Set(ids)].sort(), 'in order, without duplicates');
  t.strictSame(
    met.filter(({ id }) => before.some((one) => one.id === id)),
    before,
    'all that was there',
  );
  const later = expectedList(added, question, present).filter(({ id }) => id > (before.at(-1)?.id ?? ''));
  t.strictSame(met.slice(-later.length), later, 'and what was added at the end');
  t.ok(later.length > 20);
});
