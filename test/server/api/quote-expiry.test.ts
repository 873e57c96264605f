import t from 'tap';

import { createCompany } from '../../../src/server/backoffice/companies.ts';
import { keyFor, startEmptyServer, STORY_NOW, type TestServer } from '../../_server.ts';
import { crawl, readPage } from './_crawl.ts';
import { quoteOf, startAcme, store, uuidOf } from './_records.ts';

const moments: [timeZone: string, now: string, validUntil: string | null, status: 'sent' | 'expired'][] = [
  // Ordinary days, and the day after the leap day.
  ['UTC', '2026-11-20T23:59:59.999Z', '2026-11-20', 'sent'],
  ['UTC', '2026-11-21T00:00:00.000Z', '2026-11-20', 'expired'],
  ['UTC', '2126-11-21T00:00:00.000Z', null, 'sent'],
  ['UTC', '2028-03-01T00:00:00.000Z', '2028-02-29', 'expired'],
  // Clocks go forward on 29 March 2026, and back on 25 October: days of 23 and of 25 hours.
  ['Europe/Dublin', '2026-07-01T23:00:00.000Z', '2026-07-01', 'expired'],
  ['Europe/Dublin', '2026-07-01T22:59:59.999Z', '2026-07-01', 'sent'],
  ['Europe/Dublin', '2026-03-28T23:59:59.999Z', '2026-03-28', 'sent'],
  ['Europe/Dublin', '2026-03-29T00:00:00.000Z', '2026-03-28', 'expired'],
  ['Europe/Dublin', '2026-03-29T22:59:59.999Z', '2026-03-29', 'sent'],
  ['Europe/Dublin', '2026-03-29T23:00:00.000Z', '2026-03-29', 'expired'],
  ['Europe/Dublin', '2026-10-25T23:59:59.999Z', '2026-10-25', 'sent'],
  ['Europe/Dublin', '2026-10-26T00:00:00.000Z', '2026-10-25', 'expired'],
  ['Europe/London', '2026-10-24T23:00:00.000Z', '2026-10-24', 'expired'],
  // Fourteen hours ahead, and eleven behind; the last day of a year.
  ['Pacific/Kiritimati', '2026-11-20T10:00:00.000Z', '2026-11-20', 'expired'],
  ['Pacific/Pago_Pago', '2026-11-21T10:59:59.999Z', '2026-11-20', 'sent'],
  ['America/New_York', '2027-01-01T04:59:59.999Z', '2026-12-31', 'sent'],
  // In the south clocks go back on 5 April, and forward on 27 September.
  ['Pacific/Auckland', '2026-11-20T11:00:00.000Z', '2026-11-20', 'expired'],
  ['Pacific/Auckland', '2026-09-27T10:59:59.999Z', '2026-09-27', 'sent'],
  ['Pacific/Auckland', '2026-04-05T11:59:59.999Z', '2026-04-05', 'sent'],
  ['Pacific/Auckland', '2026-04-05T12:00:00.000Z', '2026-04-05', 'expired'],
  ['America/Los_Angeles', '2026-03-09T07:00:00.000Z', '2026-03-08', 'expired'],
];

/** Versions that stay what they are, whatever their last day. */
const settled = (['accepted', 'declined', 'draft', 'revised'] as const).map((status, index) =>
  quoteOf({ id: uuidOf(2 + index), status, validUntil: '2020-01-01' }),
);

t.test("a sent quote expires when the company's day turns, in lists, filters and alone", async (t) => {
  const { server, engine } = await startEmptyServer(t, 'sqlite');
  for (const [index, [timeZone, now, validUntil, status]] of moments.entries()) {
    const company = `expiry-${index}`;
    const id = uuidOf(1);
    await createCompany(engine, company, { timeZone }, STORY_NOW);
    const key = await keyFor(engine, company);
    await store(engine, company, [quoteOf({ id, status: 'sent', validUntil }), ...settled]);
    server.setNow(new Date(now));
    const reader = readerOf(server, key);
    t.equal((await reader.get(id)).status, status, `${timeZone} ${now}`);
    const latest = [`1 ${status}`, '2 accepted', '3 declined', '4 draft'];
    const of = (asked: string) => (asked === status ? [`1 ${status}`] : []);
    for (const [query, listed] of [
      [{}, latest],
      [{ customer: 'cus_1' }, latest],
      [{ versions: 'all' }, [...latest, '5 revised']],
      [{ status: 'sent' }, of('sent')],
      [{ status: 'sent', versions: 'all' }, of('sent')],
      [{ status: 'expired' }, of('expired')],
      [{ status: 'expired', versions: 'all' }, of('expired')],
      [{ status: 'expired', customer: 'cus_1' }, of('expired')],
    ] as const) {
      const what = `${timeZone} ${now}, valid until ${validUntil}: ${JSON.stringify(query)}`;
      t.strictSame(await reader.list(query), listed, what);
    }
  }
});

t.test('a clock that jumps takes the expiry of a quote with it', async (t) => {
  const id = uuidOf(1);
  const quotes = [quoteOf({ id, status: 'sent', validUntil: '2026-07-01' }), ...settled];
  const { server, key } = await startAcme(t, quotes);
  const reader = readerOf(server, key);
  const jumps: [now: string, status: string][] = [
    ['2026-07-01T22:59:59.999Z', 'sent'],
    ['2026-07-01T23:00:00.000Z', 'expired'],
    ['2026-07-01T22:59:59.999Z', 'sent'],
    ['2027-07-01T12:00:00.000Z', 'expired'],
    ['2025-07-01T12:00:00.000Z', 'sent'],
    ['2026-07-02T00:00:00.000Z', 'expired'],
  ];
  const tags: Record<string, Set<string>> = { sent: new Set(), expired: new Set() };
  let last = '';
  for (const [now, status] of jumps) {
    server.setNow(new Date(now));
    const alone = await reader.get(id, last);
    t.strictSame({ statusCode: alone.statusCode, status: alone.status }, { statusCode: 200, status }, now);
    t.equal((await reader.get(id, alone.etag)).statusCode, 304, 'it stays as it is for the day');
    t.strictSame(await reader.list({ status: 'sent' }), status === 'sent' ? ['1 sent'] : []);
    t.strictSame(await reader.list({ status: 'expired' }), status === 'expired' ? ['1 expired'] : []);
    tags[status]?.add(`${alone.etag} ${await reader.tagOfList()}`);
    last = alone.etag;
  }
  t.strictSame([tags.sent?.size, tags.expired?.size], [1, 1], 'each reading has its tags');
  t.not([...(tags.sent ?? [])][0]?.split(' ')[1], [...(tags.expired ?? [])][0]?.split(' ')[1]);
});

t.test('a crawl goes on where it was when the day turns, without the expired', async (t) => {
  const quotes = ['2026-07-01', '2026-07-02', '2026-07-01', '2026-07-02', '2026-07-01', null].map(
    (validUntil, index) => quoteOf({ id: uuidOf(1 + index), status: 'sent', validUntil }),
  );
  const { server, key } = await startAcme(t, quotes);
  /** Crawls two by two; after the first page it is another moment. */
  const crawlTo = (status: string, then: string) =>
    crawl(server, key, {
      path: 'api/v1/quotes',
      query: { status },
      limits: [2],
      onPage: async () => server.setNow(new Date(then)),
    });
  server.setNow(new Date('2026-07-01T22:59:59.999Z'));
  const sent = await crawlTo('sent', '2026-07-01T23:00:00.000Z');
  t.strictSame(
    sent.records.map(({ id }) => id),
    [1, 2, 4, 6].map(uuidOf),
  );
  const expired = await crawlTo('expired', '2026-07-02T23:00:00.000Z');
  t.strictSame(
    expired.records.map(({ id }) => id),
    [1, 3, 4, 5].map(uuidOf),
  );
});

/** Reads quotes as a client does; a listed one as the end of its id and its status. */
function readerOf(server: TestServer, key: string) {
  const authorization = `Bearer ${key}`;
  return {
    async get(id: string, etag = '') {
      const headers = { authorization, ...(etag === '' ? {} : { 'if-none-match': etag }) };
      const answer = await server.http(`api/v1/quotes/${id}`, { headers });
      const { data } = JSON.parse(answer.body || '{}') as { data?: { status: string } };
      return { statusCode: answer.statusCode, etag: answer.headers.etag ?? '', status: data?.status };
    },
    async list(query: Record<string, string>) {
      const { data } = await readPage(server, key, 'api/v1/quotes', query);
      return (data as unknown as { id: string; status: string }[]).map(
        ({ id, status }) => `${Number.parseInt(id.slice(-6), 16)} ${status}`,
      );
    },
    async tagOfList() {
      const answer = await server.http('api/v1/quotes', { headers: { authorization } });
      return answer.headers.etag ?? '';
    },
  };
}
