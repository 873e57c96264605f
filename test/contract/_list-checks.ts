import { isDeepStrictEqual } from 'node:util';

import type { Note } from './_checks.ts';
import { codeOf } from './_conformance.ts';
import { declaredOperation, declaredResponse } from './_declared.ts';
import { ask, parsed } from './_exchange.ts';
import { headersOf, neighbourId, type Party } from './_parties.ts';
import { firstDifference } from './_questions.ts';
import {
  askChecked,
  readPage,
  type ReadRecord,
  type WholeList,
  wholeLists,
  withParameters,
} from './_reading.ts';

const PAGES_MAX = 50;

/** Crawls every list with several limits. */
export async function pagedLists(party: Party, note: Note): Promise<void> {
  for (const list of wholeLists()) {
    for (const limit of [1, 2, 3, list.records.length, 100]) {
      if (limit > 0) await crawl(party, note, list, limit);
    }
  }
}

async function crawl(
  party: Party,
  note: Note,
  { operationId, target, records }: WholeList,
  limit: number,
): Promise<void> {
  const seen: ReadRecord[] = [];
  const what = `${target} by ${limit}`;
  let cursor: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page = await readPage(
      party,
      note,
      operationId,
      withParameters(target, { limit: String(limit), cursor }),
    );
    if (page.data.length > limit) note(`${what}: a page has ${page.data.length} records`);
    seen.push(...page.data);
    if (page.nextCursor === null) {
      compareRecords(note, what, seen, records);
      return;
    }
    if (page.data.length < limit) note(`${what}: a page before the last has ${page.data.length} records`);
    if (seen.length >= records.length) note(`${what}: nextCursor leads past the last record`);
    cursor = page.nextCursor;
  }
  note(`${what}: nextCursor never becomes null`);
}

function compareRecords(
  note: Note,
  what: string,
  actual: readonly ReadRecord[],
  wanted: readonly ReadRecord[],
): void {
  const [ids, wantedIds] = [actual.map(({ id }) => id), wanted.map(({ id }) => id)];
  if (!isDeepStrictEqual(ids, wantedIds)) {
    note(`${what}: the records are ${ids.join(' ')}, not ${wantedIds.join(' ')}`);
  } else if (!isDeepStrictEqual(actual, wanted)) {
    note(`${what}: ${firstDifference(actual, wanted, '')}`);
  }
}

type Query = Record<string, string | undefined>;
type Keeps = (record: ReadRecord, value: string, all: readonly ReadRecord[]) => boolean;

const customerIs: Keeps = (record, value) => (record['customer'] as { id: string }).id === value;
const changedSince: Keeps = (record, value) => text(record['updatedAt']) >= value;

/** What each filter keeps of a whole list, by service.md. */
const filters: Record<string, Record<string, Keeps>> = {
  listJobs: { updatedSince: changedSince },
  listForms: { updatedSince: changedSince },
  listCustomers: { updatedSince: changedSince },
  listFormSubmissions: { updatedSince: (record, value) => text(record['createdAt']) >= value },
  listPeople: {},
  listInvoices: {
    kind: (record, value) => record['kind'] === value,
    status: (record, value) => value === 'all' || record['status'] === value,
    customer: customerIs,
    issuedFrom: (record, value) => record['issueDate'] !== null && text(record['issueDate']) >= value,
    issuedTo: (record, value) => record['issueDate'] !== null && text(record['issueDate']) <= value,
    updatedSince: changedSince,
  },
  listQuotes: {
    status: (record, value) => record['status'] === value,
    customer: customerIs,
    versions: (record, value, all) => value === 'all' || isLatest(record, all),
    updatedSince: changedSince,
  },
};

/** The values that a filter has when it isn't given. */
const defaults: Record<string, Query> = {
  listInvoices: { status: 'issued' },
  listQuotes: { versions: 'latest' },
};

/** Asks every list with every filter that means something on it, alone and in pairs. */
export async function filteredLists(party: Party, note: Note): Promise<void> {
  for (const list of wholeLists()) {
    for (const query of queriesOf(list)) {
      const { operationId, target, records } = list;
      const given: Query = { ...defaults[operationId], ...query };
      const wanted = records.filter((record) =>
        Object.entries(given).every(
          ([name, value]) => value === undefined || filters[operationId]?.[name]?.(record, value, records),
        ),
      );
      const asked = withParameters(target.replace(/\?.*$/, ''), query);
      const page = await readPage(party, note, operationId, asked);
      compareRecords(note, asked, page.data, wanted);
    }
  }
}

/** Each value of each filter alone, and each pair of filters with values that some record has. */
function queriesOf({ operationId, records }: WholeList): Query[] {
  const { parameters } = declaredOperation(operationId);
  const values = parameters
    .filter(({ in: place, name }) => place === 'query' && name !== 'limit' && name !== 'cursor')
    .map(({ name, schema }) => ({
      name,
      values: (schema.enum as string[] | undefined) ?? valuesOf(name, records),
    }));
  const alone = values.flatMap((filter) => filter.values.map((value) => ({ [filter.name]: value })));
  const pairs = values.flatMap((first, index) =>
    values.slice(index + 1).flatMap((second) => pairsOf(first, second)),
  );
  return [{}, ...alone, ...pairs];
}

function pairsOf(
  first: { name: string; values: string[] },
  second: { name: string; values: string[] },
): Query[] {
  return first.values
    .slice(0, 3)
    .flatMap((one) =>
      second.values.slice(0, 3).map((other) => ({ [first.name]: one, [second.name]: other })),
    );
}

/** Values at the very edge of each record, and one that no record has. */
function valuesOf(name: string, records: readonly ReadRecord[]): string[] {
  const found = records.map((record) => {
    if (name === 'customer') return text((record['customer'] as { id: string }).id);
    if (name === 'updatedSince') return text(record['updatedAt'] ?? record['createdAt']);
    return record['issueDate'];
  });
  const distinct = [...new Set(found.filter((value) => typeof value === 'string'))];
  if (name === 'customer') return [...distinct, 'cus_9999'];
  if (name !== 'updatedSince') return [...distinct, '2099-12-31'];
  const justAfter = distinct.map((time) => new Date(Date.parse(time) + 1).toISOString());
  return distinct.flatMap((time, index) => [time, justAfter[index] ?? time]);
}

function isLatest(record: ReadRecord, all: readonly ReadRecord[]): boolean {
  const versions = all.filter((other) => other['quoteGroupId'] === record['quoteGroupId']);
  return versions.every((other) => Number(other['version']) <= Number(record['version']));
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error(`${JSON.stringify(value)} is not text.`);
  return value;
}

/** The lists whose records have a path of their own. */
const detailOf: Record<string, string> = {
  listJobs: 'getJob',
  listCustomers: 'getCustomer',
  listInvoices: 'getInvoice',
  listQuotes: 'getQuote',
};

/** Reads each record of each list by its own path too. */
export async function detailsOfLists(party: Party, note: Note): Promise<void> {
  for (const { operationId, target } of wholeLists()) {
    const detailOperation = detailOf[operationId];
    if (detailOperation === undefined) continue;
    const { data } = await readPage(party, note, operationId, target);
    if (data.length === 0) note(`${target}: there is nothing to compare`);
    for (const record of data) {
      const path = detailPath(detailOperation, record.id);
      const answer = await askChecked(party, note, { operationId: detailOperation, target: path });
      const detail = (parsed(answer) as { data?: ReadRecord } | undefined)?.data;
      const shared = Object.fromEntries(Object.keys(record).map((name) => [name, detail?.[name]]));
      if (!isDeepStrictEqual(shared, record)) note(`${path}: ${firstDifference(shared, record, '')}`);
    }
  }
}

function detailPath(operationId: string, id: string): string {
  return declaredOperation(operationId).path.replace(/\{\w+\}/, id);
}

/** Asks for another company's records, which that company itself does read. */
export async function neighbours(party: Party, note: Note): Promise<void> {
  const absent = declaredResponse('getJob', 404).examples[0]?.value;
  for (const { operationId, records } of wholeLists()) {
    const [first] = records;
    const detailOperation = operationId === 'listForms' ? 'listFormSubmissions' : detailOf[operationId];
    if (first === undefined || detailOperation === undefined) continue;
    const target = detailPath(detailOperation, neighbourId(first.id));
    const own = await ask(party.urls.normal, { target, headers: headersOf(party, 'neighbour') });
    if (own.status !== 200) note(`${target}: the neighbour gets ${own.status}`);
    const answer = await askChecked(party, note, { operationId: detailOperation, target });
    if (answer.status !== 404 || !isDeepStrictEqual(parsed(answer), absent)) {
      note(`${target}: another company's record is answered ${answer.status} ${codeOf(parsed(answer))}`);
    }
    const { data } = await readPage(party, note, operationId, declaredOperation(operationId).path);
    if (data.some(({ id }) => id === neighbourId(first.id)))
      note(`${operationId} shows another company's record`);
  }
}
