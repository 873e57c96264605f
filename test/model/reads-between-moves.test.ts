import fc from 'fast-check';
import t from 'tap';

import { type Resource, resources } from '../../src/contract/records.ts';
import { openTestDatabase, engineNames, keyFor, startTestServer, type EngineName } from '../_server.ts';
import { byId, compare, readQuote } from './_comparison.ts';
import { dayIn, type ModelCompany } from './_model.ts';
import { openArena, runSequence } from './_run.ts';

/* The API's answers after random moves. The model's own comparison holds that events say the same. */

const SEQUENCES: Record<EngineName, number> = { sqlite: 4, postgres: 2 };
const steps = fc.array(fc.noShrink(fc.integer({ min: 0, max: 2 ** 32 - 1 })), {
  minLength: 90,
  maxLength: 110,
  size: 'max',
});

interface Page {
  data: { id: string }[];
  nextCursor: string | null;
}

/** Asks the API on behalf of a company. */
type Ask = (company: string, path: string) => Promise<unknown>;

/** The filter that shows all records of a list. */
const everything: Partial<Record<Resource, string>> = { invoices: '?status=all', quotes: '?versions=all' };

for (const name of engineNames) {
  t.test(`a crawl finds every record once, in the order of ids, as the model has it (${name})`, async (t) => {
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
    const property = fc.asyncProperty(steps, async (seeds) => {
      const { companies, nowMs } = await runSequence(arena, seeds);
      for (const company of companies.values())
        await compareReads(ask, company, dayIn(company.timeZone, nowMs));
    });
    await t.resolves(fc.assert(property, { numRuns: SEQUENCES[name] }));
  });
}

async function crawl(ask: Ask, company: string, path: string, limit: number): Promise<Page['data']> {
  const records: Page['data'] = [];
  let cursor: string | null = null;
  do {
    const next: string = cursor === null ? '' : `&cursor=${cursor}`;
    const query = `${path.includes('?') ? '&' : '?'}limit=${limit}${next}`;
    const page = (await ask(company, `${path}${query}`)) as Page;
    records.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return records;
}

async function compareReads(ask: Ask, { id: company, tables }: ModelCompany, today: string): Promise<void> {
  for (const resource of resources) {
    if (resource === 'submissions') continue;
    const path = `${resource}${everything[resource] ?? ''}`;
    const records =
      resource === 'quotes'
        ? byId(tables.quotes.values()).map((quote) => readQuote(quote, today))
        : byId<{ id: string }>(tables[resource].values());
    for (const limit of [1, 3, 100]) {
      const found = await crawl(ask, company, path, limit);
      const idsOf = (all: readonly { id: string }[]) => all.map(({ id }) => id);
      compare(`The ids of ${path} by ${limit}`, idsOf(found), idsOf(records));
      for (const [index, listed] of found.entries())
        compare(`${path}, ${listed.id}`, listed, sharedWith(listed, records[index]));
    }
    for (const record of hasOwnPath(resource) ? records : []) {
      const { data } = (await ask(company, `${resource}/${record.id}`)) as { data: unknown };
      compare(`${resource}/${record.id}`, data, record);
    }
  }
}

const hasOwnPath = (resource: string) => ['invoices', 'quotes', 'jobs', 'customers'].includes(resource);

/** A record with the members alone that its list shows. */
function sharedWith(listed: object, record: object | undefined): object {
  return Object.fromEntries(Object.entries(record ?? {}).filter(([name]) => name in listed));
}
