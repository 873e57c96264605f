import fc from 'fast-check';
import t from 'tap';

import { openTestDatabase, engineNames, keyFor, startTestServer, type EngineName } from '../_server.ts';
import type { ModelCompany } from './_model.ts';
import { openArena, runSequence } from './_run.ts';

/*
 * What a webhook is told and what the API answers is one and the
 * same. Random moves are made while the real server is asked.
 */

/** A sequence may send no event: one in some thousands does, when its companies' addresses are missing; not two. */
const SEQUENCES: Record<EngineName, number> = { sqlite: 4, postgres: 2 };
const steps = fc.array(fc.noShrink(fc.integer({ min: 0, max: 2 ** 32 - 1 })), {
  minLength: 90,
  maxLength: 110,
  size: 'max',
});

type Members = Record<string, unknown>;
interface Page {
  data: (Members & { id: string })[];
  nextCursor: string | null;
}

/** Asks the API on behalf of a company. */
type Ask = (company: string, path: string) => Promise<unknown>;

const lists = {
  people: 'people',
  customers: 'customers',
  forms: 'forms',
  jobs: 'jobs',
  invoices: 'invoices?status=all',
  quotes: 'quotes?versions=all',
} as const;

for (const name of engineNames) {
  t.test(`while moves are made (${name})`, async (t) => {
    await using database = await openTestDatabase(name);
    await using server = await startTestServer({ engine: database.engine });
    const arena = openArena(database.engine, server.setNow);
    const keys = new Map<string, string>();
    const ask: Ask = async (company, path) => {
      const key = keys.get(company) ?? (await keyFor(database.engine, company));
      keys.set(company, key);
      const headers = { authorization: `Bearer ${key}` };
      const { statusCode, body } = await server.http.get(`api/v1/${path}`, { headers });
      if (statusCode !== 200) throw new Error(`${path} is answered with ${statusCode} ${body}`);
      return JSON.parse(body) as unknown;
    };
    const check = (label: string, body: (seeds: number[]) => Promise<void>) =>
      t.test(label, async (t) => {
        await t.resolves(fc.assert(fc.asyncProperty(steps, body), { numRuns: SEQUENCES[name] }));
      });

    await check('L1: a record by itself has all that its list says of it, value by value', async (seeds) => {
      const world = await runSequence(arena, seeds);
      for (const company of world.companies.values()) await compareDetails(ask, company);
    });
    await check('L2: the data of an event is what the API answers at that moment', async (seeds) => {
      const seen = new Map<string, number>();
      await runSequence(arena, seeds, async (world) => {
        for (const company of world.companies.values()) {
          await compareEvents(ask, company, seen.get(company.id) ?? 0);
          seen.set(company.id, company.events.length);
        }
      });
    });
    await check('L3: a whole crawl finds every record once, in the order of ids', async (seeds) => {
      const world = await runSequence(arena, seeds);
      for (const company of world.companies.values()) await compareCrawls(ask, company);
    });
  });
}

/** @throws Error naming the member that isn't the same text in both. */
function mustAgree(what: string, a: Members, b: Members, names: readonly string[]): void {
  for (const name of names) {
    const [one, other] = [JSON.stringify(a[name]), JSON.stringify(b[name])];
    if (one !== other) throw new Error(`${what}: ${name} is ${one} here and ${other} there`);
  }
}

async function crawl(ask: Ask, company: string, path: string, limit: number): Promise<Page['data']> {
  const records: Page['data'] = [];
  let cursor: string | null = null;
  do {
    const next: string = cursor === null ? '' : `&cursor=${cursor}`;
    const page = (await ask(
      company,
      `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${next}`,
    )) as Page;
    records.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return records;
}

async function compareDetails(ask: Ask, { id: company }: ModelCompany): Promise<void> {
  for (const resource of ['invoices', 'quotes', 'jobs', 'customers'] as const) {
    for (const summary of await crawl(ask, company, lists[resource], 100)) {
      const { data } = (await ask(company, `${resource}/${summary.id}`)) as { data: Members };
      mustAgree(`${resource}/${summary.id}`, data, summary, Object.keys(summary));
    }
  }
}

/** Where the record of an event is found, by its kind. */
const resources: Record<string, string> = {
  job: 'jobs',
  invoice: 'invoices',
  credit_note: 'invoices',
  quote: 'quotes',
};

async function compareEvents(ask: Ask, { id: company, events }: ModelCompany, from: number): Promise<void> {
  for (const { kind, data } of events.slice(from)) {
    const told = data as Members & { id: string };
    if (kind === 'payment.recorded' || kind === 'invoice.paid') await compareMoney(ask, company, told);
    else if (kind === 'form.submitted') {
      const { data: listed } = (await ask(
        company,
        `forms/${String(told['formId'])}/submissions?limit=100`,
      )) as Page;
      const found = listed.find(({ id }) => id === told.id) ?? {};
      mustAgree(kind, found, told, [...Object.keys(found), ...Object.keys(told)]);
    } else {
      const resource = resources[kind.slice(0, kind.indexOf('.'))] ?? '';
      const { data: found } = (await ask(company, `${resource}/${told.id}`)) as { data: Members };
      // A step sends several events of one record at most when all of them say the same.
      mustAgree(`${kind} ${told.id}`, found, told, Object.keys(told));
    }
  }
}

/** Payments and settlement say what the invoice says at that moment. */
async function compareMoney(ask: Ask, company: string, told: Members): Promise<void> {
  const { invoice: path } = told['links'] as { invoice: string };
  const { data } = (await ask(company, path.replace('/api/v1/', ''))) as { data: Members };
  const { id, number, totals } = data as { id: string; number: string; totals: { grossMinor: number } };
  const payments = data['payments'] as { id: string; amountMinor: number; paidOn: string; method: string }[];
  const payment = payments.find((one) => one.id === told['paymentId']);
  const said = {
    ...data,
    ...{ invoiceId: id, invoiceNumber: number, paymentId: payment?.id, grossMinor: totals.grossMinor },
    totalPaidMinor: payments.reduce((sum, { amountMinor }) => sum + amountMinor, 0),
    creditedMinor: (data['creditNotes'] as { grossMinor: number }[]).reduce(
      (sum, note) => sum + note.grossMinor,
      0,
    ),
    ...('method' in told
      ? { amountMinor: payment?.amountMinor, paidOn: payment?.paidOn, method: payment?.method }
      : {}),
    links: told['links'],
  };
  // The day of a settlement is the day of its move, which no record shows.
  const names = Object.keys(told).filter((name) => name !== 'paidOn' || 'method' in told);
  mustAgree(`of ${path}`, said, told, names);
}

async function compareCrawls(ask: Ask, { id: company, tables }: ModelCompany): Promise<void> {
  for (const [resource, path] of Object.entries(lists) as [keyof typeof lists, string][]) {
    const expected = [...tables[resource].keys()].sort();
    for (const limit of [1, 3, 100]) {
      const found = (await crawl(ask, company, path, limit)).map(({ id }) => id);
      if (found.join() !== expected.join()) {
        throw new Error(`${path} by ${limit} has ${found.join()}, and not ${expected.join()}`);
      }
    }
  }
}
