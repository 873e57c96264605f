import { isDeepStrictEqual } from 'node:util';

import type { Note } from './_checks.ts';
import { codeOf } from './_conformance.ts';
import { declaredOperation, declaredResponse } from './_declared.ts';
import { ask, parsed } from './_exchange.ts';
import { headersOf, neighbourId, type Party } from './_parties.ts';
import { firstDifference } from './_questions.ts';
import { type Filter, filtersOf, keptBy, type Query } from './_filters.ts';
import {
  askChecked,
  compareRecords,
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

/** Asks every list with every filter that means something on it, alone and in pairs. */
export async function filteredLists(party: Party, note: Note): Promise<void> {
  for (const list of wholeLists()) {
    for (const query of queriesOf(list)) {
      const { operationId, target, records } = list;
      const wanted = keptBy(operationId, query, records);
      const asked = withParameters(target.replace(/\?.*$/, ''), query);
      const page = await readPage(party, note, operationId, asked);
      compareRecords(note, asked, page.data, wanted);
    }
  }
}

/** Each value of each filter alone, and each pair of filters with values that some record has. */
function queriesOf({ operationId, records }: WholeList): Query[] {
  const values = filtersOf(operationId, records);
  const alone = values.flatMap((filter) => filter.values.map((value) => ({ [filter.name]: value })));
  const pairs = values.flatMap((first, index) =>
    values.slice(index + 1).flatMap((second) => pairsOf(first, second)),
  );
  return [{}, ...alone, ...pairs];
}

function pairsOf(first: Filter, second: Filter): Query[] {
  return first.values
    .slice(0, 3)
    .flatMap((one) =>
      second.values.slice(0, 3).map((other) => ({ [first.name]: one, [second.name]: other })),
    );
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
    const withPdf = operationId === 'listInvoices' ? ['getInvoicePdf'] : [];
    for (const single of [detailOperation, ...withPdf]) {
      const target = detailPath(single, neighbourId(first.id));
      const own = await ask(party.urls.normal, { target, headers: headersOf(party, 'neighbour') });
      if (own.status !== 200) note(`${target}: the neighbour gets ${own.status}`);
      const answer = await askChecked(party, note, { operationId: single, target });
      if (answer.status !== 404 || !isDeepStrictEqual(parsed(answer), absent)) {
        note(`${target}: another company's record is answered ${answer.status} ${codeOf(parsed(answer))}`);
      }
    }
    const { data } = await readPage(party, note, operationId, declaredOperation(operationId).path);
    if (data.some(({ id }) => id === neighbourId(first.id)))
      note(`${operationId} shows another company's record`);
  }
}
