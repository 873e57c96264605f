import t from 'tap';

import { createCompany } from '../../src/access/companies.ts';
import { engineNames, keyFor, openTestDatabase, startTestServer, STORY_NOW } from '../_server.ts';
import { readPage } from './_crawl.ts';
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
];

for (const name of engineNames) {
  t.test(
    `a sent quote expires when the company's day turns, in lists, filters and alone (${name})`,
    async (t) => {
      await using database = await openTestDatabase(name);
      await using server = await startTestServer({ engine: database.engine });
      for (const [index, moment] of moments.entries()) {
        const company = `expiry-${index}`;
        const id = uuidOf(1);
        await createCompany(database.engine, company, { timeZone: moment.timeZone }, STORY_NOW);
        const key = await keyFor(database.engine, company);
        // Accepted quotes stay what they are, whatever their last day.
        const accepted = quoteOf({ id: uuidOf(2), status: 'accepted', validUntil: '2020-01-01' });
        await store(database.engine, company, [
          quoteOf({ id, status: 'sent', validUntil: moment.validUntil }),
          accepted,
        ]);
        server.setNow(new Date(moment.now));
        const status = moment.isExpired ? 'expired' : 'sent';
        const { body } = await server.http(`api/v1/quotes/${id}`, {
          headers: { authorization: `Bearer ${key}` },
        });
        const list = async (query: Record<string, string>) =>
          (await readPage(server, key, 'api/v1/quotes', query)).data.map((quote) => [
            quote.id,
            (quote as unknown as { status: string }).status,
          ]);
        t.strictSame(
          {
            alone: (JSON.parse(body) as { data: { status: string } }).data.status,
            list: await list({}),
            sent: await list({ status: 'sent' }),
            expired: await list({ status: 'expired' }),
          },
          {
            alone: status,
            list: [
              [id, status],
              [uuidOf(2), 'accepted'],
            ],
            sent: moment.isExpired ? [] : [[id, 'sent']],
            expired: moment.isExpired ? [[id, 'expired']] : [],
          },
          moment.name,
        );
      }
    },
  );
}
