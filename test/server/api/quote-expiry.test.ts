import t from 'tap';

import { createCompany } from '../../../src/server/access/companies.ts';
import { engineNames, keyFor, startEmptyServer, STORY_NOW, type TestServer } from '../../_server.ts';
import { crawl, readPage } from './_crawl.ts';
import { quoteOf, store, uuidOf } from './_records.ts';

/** On the moment, a sent quote valid until the day reads as expired, or not yet. */
interface Moment {
  name: string;
  timeZone: string;
  now: string;
  validUntil: string | null;
  isExpired: boolean;
}

const moments: Moment[] = [
  {
    name: 'on its last day',
    timeZone: 'UTC',
    now: '2026-11-20T23:59:59.999Z',
    validUntil: '2026-11-20',
    isExpired: false,
  },
  {
    name: 'the moment its last day is over',
    timeZone: 'UTC',
    now: '2026-11-21T00:00:00.000Z',
    validUntil: '2026-11-20',
    isExpired: true,
  },
  {
    name: 'without a last day',
    timeZone: 'UTC',
    now: '2126-11-21T00:00:00.000Z',
    validUntil: null,
    isExpired: false,
  },
  {
    name: 'in Irish summer, when it is still the last day in UTC',
    timeZone: 'Europe/Dublin',
    now: '2026-07-01T23:00:00.000Z',
    validUntil: '2026-07-01',
    isExpired: true,
  },
  {
    name: 'in Irish summer, just before midnight',
    timeZone: 'Europe/Dublin',
    now: '2026-07-01T22:59:59.999Z',
    validUntil: '2026-07-01',
    isExpired: false,
  },
  {
    name: 'on the eve of summer time',
    timeZone: 'Europe/Dublin',
    now: '2026-03-28T23:59:59.999Z',
    validUntil: '2026-03-28',
    isExpired: false,
  },
  {
    name: 'as the day on which clocks go forward begins',
    timeZone: 'Europe/Dublin',
    now: '2026-03-29T00:00:00.000Z',
    validUntil: '2026-03-28',
    isExpired: true,
  },
  {
    name: 'as the day on which clocks went forward ends',
    timeZone: 'Europe/Dublin',
    now: '2026-03-29T22:59:59.999Z',
    validUntil: '2026-03-29',
    isExpired: false,
  },
  {
    name: 'an hour earlier in UTC after clocks went forward',
    timeZone: 'Europe/Dublin',
    now: '2026-03-29T23:00:00.000Z',
    validUntil: '2026-03-29',
    isExpired: true,
  },
  {
    name: 'in the last hour of the 25-hour day',
    timeZone: 'Europe/Dublin',
    now: '2026-10-25T23:59:59.999Z',
    validUntil: '2026-10-25',
    isExpired: false,
  },
  {
    name: 'after the 25-hour day',
    timeZone: 'Europe/Dublin',
    now: '2026-10-26T00:00:00.000Z',
    validUntil: '2026-10-25',
    isExpired: true,
  },
  {
    name: 'where the day is fourteen hours ahead',
    timeZone: 'Pacific/Kiritimati',
    now: '2026-11-20T10:00:00.000Z',
    validUntil: '2026-11-20',
    isExpired: true,
  },
  {
    name: 'where the day is eleven hours behind',
    timeZone: 'Pacific/Pago_Pago',
    now: '2026-11-21T10:59:59.999Z',
    validUntil: '2026-11-20',
    isExpired: false,
  },
  {
    name: 'over the end of a year',
    timeZone: 'America/New_York',
    now: '2027-01-01T04:59:59.999Z',
    validUntil: '2026-12-31',
    isExpired: false,
  },
  {
    name: 'after the leap day',
    timeZone: 'UTC',
    now: '2028-03-01T00:00:00.000Z',
    validUntil: '2028-02-29',
    isExpired: true,
  },
  {
    name: 'in British summer, just before midnight',
    timeZone: 'Europe/London',
    now: '2026-07-01T22:59:59.999Z',
    validUntil: '2026-07-01',
    isExpired: false,
  },
  {
    name: 'in British summer, at midnight',
    timeZone: 'Europe/London',
    now: '2026-07-01T23:00:00.000Z',
    validUntil: '2026-07-01',
    isExpired: true,
  },
  {
    name: 'in British winter, at midnight',
    timeZone: 'Europe/London',
    now: '2026-12-01T00:00:00.000Z',
    validUntil: '2026-11-30',
    isExpired: true,
  },
  {
    name: 'in the hour that comes twice on the day on which British clocks go back',
    timeZone: 'Europe/London',
    now: '2026-10-25T01:30:00.000Z',
    validUntil: '2026-10-25',
    isExpired: false,
  },
  {
    name: 'as the day on which British clocks go back begins, an hour before it does in UTC',
    timeZone: 'Europe/London',
    now: '2026-10-24T23:00:00.000Z',
    validUntil: '2026-10-24',
    isExpired: true,
  },
  {
    name: 'in the southern summer, thirteen hours ahead',
    timeZone: 'Pacific/Auckland',
    now: '2026-11-20T11:00:00.000Z',
    validUntil: '2026-11-20',
    isExpired: true,
  },
  {
    name: 'at the end of the day on which southern clocks go forward',
    timeZone: 'Pacific/Auckland',
    now: '2026-09-27T10:59:59.999Z',
    validUntil: '2026-09-27',
    isExpired: false,
  },
  {
    name: 'at the end of the day on which southern clocks go back',
    timeZone: 'Pacific/Auckland',
    now: '2026-04-05T11:59:59.999Z',
    validUntil: '2026-04-05',
    isExpired: false,
  },
  {
    name: 'after the day on which southern clocks go back',
    timeZone: 'Pacific/Auckland',
    now: '2026-04-05T12:00:00.000Z',
    validUntil: '2026-04-05',
    isExpired: true,
  },
  {
    name: 'on the Pacific coast, when it is the next day in UTC',
    timeZone: 'America/Los_Angeles',
    now: '2026-11-21T07:59:59.999Z',
    validUntil: '2026-11-20',
    isExpired: false,
  },
  {
    name: 'on the Pacific coast, at midnight',
    timeZone: 'America/Los_Angeles',
    now: '2026-11-21T08:00:00.000Z',
    validUntil: '2026-11-20',
    isExpired: true,
  },
  {
    name: 'on the Pacific coast, at the midnight after clocks went forward',
    timeZone: 'America/Los_Angeles',
    now: '2026-03-09T07:00:00.000Z',
    validUntil: '2026-03-08',
    isExpired: true,
  },
];

/** Versions that stay what they are, whatever their last day. */
const settled = (['accepted', 'declined', 'draft', 'revised'] as const).map((status, index) =>
  quoteOf({ id: uuidOf(2 + index), status, validUntil: '2020-01-01' }),
);

for (const name of engineNames) {
  t.test(
    `a sent quote expires when the company's day turns, in lists, filters and alone (${name})`,
    async (t) => {
      const { server, engine } = await startEmptyServer(t, name);
      for (const [index, { timeZone, now, validUntil, isExpired, ...moment }] of moments.entries()) {
        const company = `expiry-${index}`;
        const id = uuidOf(1);
        await createCompany(engine, company, { timeZone }, STORY_NOW);
        const key = await keyFor(engine, company);
        await store(engine, company, [quoteOf({ id, status: 'sent', validUntil }), ...settled]);
        server.setNow(new Date(now));
        const reader = readerOf(server, key);
        const status = isExpired ? 'expired' : 'sent';
        const latest = [`1 ${status}`, '2 accepted', '3 declined', '4 draft'];
        const expected = {
          alone: status,
          latest,
          ofCustomer: latest,
          all: [...latest, '5 revised'],
          sent: isExpired ? [] : ['1 sent'],
          allSent: isExpired ? [] : ['1 sent'],
          expired: isExpired ? ['1 expired'] : [],
          allExpired: isExpired ? ['1 expired'] : [],
          expiredOfCustomer: isExpired ? ['1 expired'] : [],
        };
        t.strictSame(
          {
            alone: (await reader.get(id)).status,
            latest: await reader.list({}),
            ofCustomer: await reader.list({ customer: 'cus_1' }),
            all: await reader.list({ versions: 'all' }),
            sent: await reader.list({ status: 'sent' }),
            allSent: await reader.list({ status: 'sent', versions: 'all' }),
            expired: await reader.list({ status: 'expired' }),
            allExpired: await reader.list({ status: 'expired', versions: 'all' }),
            expiredOfCustomer: await reader.list({ status: 'expired', customer: 'cus_1' }),
          },
          expected,
          moment.name,
        );
      }
    },
  );

  t.test(`a clock that jumps takes the expiry of a quote with it (${name})`, async (t) => {
    const { server, engine } = await startEmptyServer(t, name);
    await createCompany(engine, 'acme', { timeZone: 'Europe/Dublin' }, STORY_NOW);
    const reader = readerOf(server, await keyFor(engine, 'acme'));
    const id = uuidOf(1);
    await store(engine, 'acme', [quoteOf({ id, status: 'sent', validUntil: '2026-07-01' }), ...settled]);
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

  t.test(`a crawl goes on where it was when the day turns, without the expired (${name})`, async (t) => {
    const { server, engine } = await startEmptyServer(t, name);
    await createCompany(engine, 'acme', { timeZone: 'Europe/Dublin' }, STORY_NOW);
    const key = await keyFor(engine, 'acme');
    const quotes = ['2026-07-01', '2026-07-02', '2026-07-01', '2026-07-02', '2026-07-01', null].map(
      (validUntil, index) => quoteOf({ id: uuidOf(1 + index), status: 'sent', validUntil }),
    );
    await store(engine, 'acme', quotes);
    /** Crawls two by two; after the first page it is another moment. */
    const walk = (status: string, then: string) =>
      crawl(server, key, {
        path: 'api/v1/quotes',
        query: { status },
        limits: [2],
        onPage: async () => server.setNow(new Date(then)),
      });
    server.setNow(new Date('2026-07-01T22:59:59.999Z'));
    const sent = await walk('sent', '2026-07-01T23:00:00.000Z');
    t.strictSame(
      sent.records.map(({ id }) => id),
      [1, 2, 4, 6].map(uuidOf),
    );
    const expired = await walk('expired', '2026-07-02T23:00:00.000Z');
    t.strictSame(
      expired.records.map(({ id }) => id),
      [1, 3, 4, 5].map(uuidOf),
    );
  });
}

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
