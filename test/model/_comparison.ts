/** Compares everything that is stored of the model's companies with the model. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import type { Quote, RecordOf, Resource } from '../../src/contract/records.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';
import type { Connection } from '../../src/server/store/dialects/dialect.ts';
import { quotesPage } from '../../src/server/store/records/quotes.ts';
import { dayIn, type Kept, type ModelCompany, type World } from './_model.ts';
import { listeners } from './_companies.ts';
import { ratesOf } from './_invoices.ts';
import { quoteSummaryOf } from './_money.ts';

/** A difference between the model and the service. */
export class Disagreement extends Error {
  override readonly name = 'Disagreement';
}

/** @throws Disagreement naming the first table that isn't as the model has it. */
export async function compareDatabase({ engine }: { engine: Engine }, world: World): Promise<void> {
  for (const company of world.companies.values()) {
    for (const resource of Object.keys(company.tables) as Resource[]) {
      await compareRecords(engine, company, resource);
    }
    await compareKept(engine, company);
    await compareEvents(engine, company);
    await compareCounts(engine, company);
    await compareLists(engine.db, company, dayIn(company.timeZone, world.nowMs));
  }
}

/** In the order of ids, which is that of code units on both sides. */
export const byId = <T extends { id: string }>(records: Iterable<T>): T[] =>
  [...records].sort((a, b) => (a.id < b.id ? -1 : 1));

/** The rows of a company, by the columns and their table. */
async function rowsOf<Row>(engine: Engine, { id }: ModelCompany, from: string, order = '1'): Promise<Row[]> {
  // The columns have these types.
  return (await engine.run(`SELECT ${from} WHERE company = '${id}' ORDER BY ${order}`)) as Row[];
}

async function compareRecords(engine: Engine, company: ModelCompany, resource: Resource): Promise<void> {
  // Those without details have no such column.
  const rows = await rowsOf<{ body: string; detail?: string }>(engine, company, `* FROM ${resource}`, 'id');
  const stored = rows.map(({ body, detail = '{}' }) => ({
    ...(JSON.parse(body) as RecordOf[Resource]),
    ...(JSON.parse(detail) as object),
  }));
  const expected = byId<RecordOf[Resource]>(company.tables[resource].values());
  compareEach(`the ${resource} of ${company.id}`, stored, expected);
}

/** Compares the data of documents that the service keeps and the API doesn't show. */
async function compareKept(engine: Engine, company: ModelCompany): Promise<void> {
  const from = 'id, unpublished FROM invoices';
  const rows = await rowsOf<Record<'id' | 'unpublished', string>>(engine, company, from, 'id');
  const stored = rows.map(({ id, unpublished }) => {
    const { supplier, quoteId, reverseChargeRates } = JSON.parse(unpublished) as Record<string, unknown>;
    return { id, supplier, quoteId, reverseChargeRates };
  });
  const kept = byId([...company.kept].map(([id, document]) => ({ id, document })));
  const expected = kept.map(({ id, document }) => ({
    id,
    supplier: snapshotOf(document),
    quoteId: document.quoteId,
    reverseChargeRates: ratesOf(document.draft),
  }));
  compareEach(`what is kept of documents of ${company.id}`, stored, expected);
  const logos = await rowsOf(engine, company, 'sha256 FROM logos', 'sha256');
  const shown = new Set(expected.flatMap(({ supplier }) => supplier?.logoSha256 ?? []));
  const sorted = [...shown].sort().map((sha256) => ({ sha256 }));
  compareEach(`the logos of ${company.id}`, logos, sorted);
}

/** Irish and British VAT numbers are addresses in networks of e-invoices, by their schemes in the EAS list. */
const SCHEMES: Partial<Record<string, string>> = { IE: '9935', GB: '9932' };

function snapshotOf({ supplier }: Kept) {
  if (!supplier) return null;
  const { logo, ...shown } = supplier;
  const logoSha256 = logo === undefined ? null : createHash('sha256').update(logo).digest('hex');
  const { vatId: id = '' } = shown;
  const scheme = SCHEMES[id.slice(0, 2)];
  const electronicAddress = scheme === undefined ? {} : { electronicAddress: { scheme, id } };
  return { ...shown, ...electronicAddress, logoSha256 };
}

async function compareEvents(engine: Engine, company: ModelCompany): Promise<void> {
  // Events are found by their deliveries, and the first webhook hears of all.
  const rows = await engine.db
    .selectFrom('deliveries')
    .innerJoin('events', (join) =>
      join.onRef('events.company', '=', 'deliveries.company').onRef('events.id', '=', 'deliveries.event'),
    )
    .selectAll('events')
    .where('deliveries.company', '=', company.id)
    .where('webhook', '=', 'whk_all')
    .orderBy('deliveries.id')
    .execute();
  const stored = rows.map(({ kind, created_at, data }) => ({
    kind,
    createdAt: created_at,
    data: JSON.parse(data) as unknown,
  }));
  compareEach(`the events of ${company.id}`, stored, company.events);
  const columns = 'webhook, event, state FROM deliveries';
  const deliveries = await rowsOf(engine, company, columns, 'webhook, id');
  const expected = Object.entries(listeners).flatMap(([webhook, kinds]) =>
    rows
      .filter(({ kind }) => (kinds as string[]).includes(kind))
      .map(({ id }) => ({ webhook, event: id, state: 'waiting' })),
  );
  compareEach(`the deliveries of ${company.id}`, deliveries, expected);
}

async function compareCounts(engine: Engine, company: ModelCompany): Promise<void> {
  const { id, series, lastStampMs, applied } = company;
  const read = async (from: string) =>
    rowsOf<Record<'name' | 'value', string | number>>(engine, company, from);
  const pairs = async (from: string) =>
    Object.fromEntries((await read(from)).map(({ name, value }) => [name, value]));
  const numbers = await pairs('series AS name, last_number AS value FROM number_series');
  compare(`the series of ${id}`, numbers, Object.fromEntries(series));
  const [clock] = await read('last_stamp_ms AS value FROM company_clocks');
  compare(`the last stamp of ${id}`, Number(clock?.value), lastStampMs);
  const changes = await pairs('id AS name, change AS value FROM applied_changes');
  const expected = [...applied].map(([name, { change }]) => [name, change]);
  compare(`the applied changes of ${id}`, changes, Object.fromEntries(expected));
}

/** A list of quotes reads a sent one past its validity as expired, and shows one version of each unless asked for all. */
async function compareLists(db: Connection, company: ModelCompany, today: string): Promise<void> {
  const quotes = byId(company.tables.quotes.values()).map((quote) => quoteSummaryOf(readQuote(quote, today)));
  const latest = quotes.filter(({ status }) => status !== 'revised');
  const groups = new Set(latest.map(({ quoteGroupId }) => quoteGroupId));
  compare(`the latest versions of ${company.id} and their groups`, latest.length, groups.size);
  const filters = [
    { versions: 'all', expected: quotes },
    { versions: 'latest', expected: latest },
    { versions: 'latest', status: 'sent', expected: latest.filter(({ status }) => status === 'sent') },
    { versions: 'latest', status: 'expired', expected: latest.filter(({ status }) => status === 'expired') },
  ] as const;
  for (const { expected, ...filter } of filters) {
    const page = { after: '', limit: 100 };
    const { records } = await quotesPage(db, company.id, today, filter, page);
    const listed = records.map(({ body }) => JSON.parse(body) as unknown);
    compareEach(
      `the list of quotes ${JSON.stringify(filter)} of ${company.id}`,
      listed,
      expected.slice(0, 100),
    );
  }
}

export function readQuote(quote: Quote, today: string): Quote {
  const isOver = quote.status === 'sent' && quote.validUntil !== null && quote.validUntil < today;
  return isOver ? { ...quote, status: 'expired' } : quote;
}

function compareEach(what: string, actual: readonly unknown[], expected: readonly unknown[]): void {
  for (const [index, record] of expected.entries())
    compare(`Number ${index} of ${what}`, actual[index], record);
  compare(`The count of ${what}`, actual.length, expected.length);
}

/** @throws Disagreement when two values aren't the same, whatever the order of members. */
export function compare(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Disagreement(`${what} isn't as it should be:\n${differences(actual, expected).join('\n')}`);
}

/** Where two values differ, as deep inside as both are objects. */
function differences(actual: unknown, expected: unknown, path = ''): string[] {
  if (isDeepStrictEqual(actual, expected)) return [];
  if (!isContainer(actual) || !isContainer(expected)) {
    return [`  ${path || '/'} is ${JSON.stringify(actual)}, and not ${JSON.stringify(expected)}`];
  }
  const names = new Set([...Object.keys(actual), ...Object.keys(expected)]);
  return [...names].flatMap((name) => differences(actual[name], expected[name], `${path}/${name}`));
}

const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
