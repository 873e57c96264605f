import { isDeepStrictEqual } from 'node:util';

import type { Note } from './_checks.ts';
import { codeOf } from './_conformance.ts';
import { declaredResponse } from './_declared.ts';
import { ask, parsed } from './_exchange.ts';
import { headersOf, NotGiven, type Party } from './_parties.ts';
import { firstDifference } from './_questions.ts';
import { type Filter, filtersOf, keptBy, type Query } from './_filters.ts';
import {
  askChecked,
  compareRecords,
  detailOf,
  listsOf,
  pathOf,
  readPage,
  type ReadRecord,
  type WholeList,
  withParameters,
} from './_reading.ts';

/** Of a long list so many pages are read with each limit. */
const PAGES_MAX = 50;
const LONG_PAGES_MAX = 5;

/** Crawls a list with several limits. */
export async function pagedLists(list: WholeList, party: Party, note: Note): Promise<void> {
  for (const limit of new Set([1, 2, 3, list.records.length, 100])) {
    if (limit > 0 && limit <= 100) await crawl(party, note, list, limit);
  }
}

async function crawl(
  party: Party,
  note: Note,
  { operationId, target, records, isWhole }: WholeList,
  limit: number,
): Promise<void> {
  const seen: ReadRecord[] = [];
  const what = `${target} by ${limit}`;
  let cursor: string | undefined;
  const isShort = isWhole && records.length / limit < PAGES_MAX;
  for (let pages = 0; pages < (isShort ? PAGES_MAX : LONG_PAGES_MAX); pages++) {
    const page = await readPage(
      party,
      note,
      operationId,
      withParameters(target, { limit: String(limit), cursor }),
    );
    if (page.data.length > limit) note(`${what}: a page has ${page.data.length} records`);
    seen.push(...page.data);
    if (page.nextCursor === null) {
      compareRecords(note, what, isWhole ? seen : seen.slice(0, records.length), records);
      return;
    }
    if (page.data.length < limit) note(`${what}: a page before the last has ${page.data.length} records`);
    if (isWhole && seen.length >= records.length) note(`${what}: nextCursor leads past the last record`);
    cursor = page.nextCursor;
  }
  if (isShort) note(`${what}: nextCursor never becomes null`);
  else compareRecords(note, what, seen.slice(0, records.length), records.slice(0, seen.length));
}

/** Asks a list with every filter that means something on it, alone and in pairs. */
export async function filteredLists(list: WholeList, party: Party, note: Note): Promise<void> {
  const { operationId, target, records, isWhole } = list;
  const path = target.replace(/\?.*$/, '');
  // The beginning of a filtered list is compared as far as the whole one is known.
  const last = isWhole ? undefined : records.at(-1)?.id;
  for (const query of queriesOf(list, party.isExample ? Infinity : VALUES_MAX)) {
    const asked = withParameters(path, { ...query, limit: '100' });
    const { data, nextCursor } = await readPage(party, note, operationId, asked);
    const wanted = keptBy(operationId, query, records).slice(0, 100);
    const known = data.filter(({ id }) => last === undefined || id <= last);
    compareRecords(note, asked, known, wanted);
    if (isWhole && data.length < 100 && nextCursor !== null)
      note(`${asked}: nextCursor leads past the last record`);
  }
}

/** Of a company that no example describes so many values of each filter are tried. */
const VALUES_MAX = 8;

/** Each value of each filter alone, and each pair of filters with values that some record has. */
function queriesOf({ operationId, records }: WholeList, valuesMax: number): Query[] {
  const values = filtersOf(operationId, records).map(({ name, values: all }) => ({
    name,
    values: all.filter((_value, index) => index % Math.max(1, Math.ceil(all.length / valuesMax)) === 0),
  }));
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

/** Of a company that no example describes so many records are read one by one. */
const DETAILS_MAX = 20;

/** Reads each record of a list by its own path too. */
export async function detailsOfLists(
  { operationId, target }: WholeList,
  party: Party,
  note: Note,
): Promise<void> {
  const detailOperation = detailOf[operationId] ?? '';
  const { data } = await readPage(party, note, operationId, target);
  if (data.length === 0) throw new NotGiven(`a record that ${operationId} lists`);
  for (const record of data.slice(0, party.isExample ? Infinity : DETAILS_MAX)) {
    const path = pathOf(detailOperation, record.id);
    const answer = await askChecked(party, note, { operationId: detailOperation, target: path });
    const detail = (parsed(answer) as { data?: ReadRecord } | undefined)?.data;
    const shared = Object.fromEntries(Object.keys(record).map((name) => [name, detail?.[name]]));
    if (!isDeepStrictEqual(shared, record)) note(`${path}: ${firstDifference(shared, record, '')}`);
  }
}

/** Looks up the customers that jobs, quotes and invoices name: none is ever left out, archived or not. */
export async function namedCustomers(party: Party, note: Note): Promise<void> {
  const [list] = await listsOf(party, 'listCustomers');
  const lists = await party.lists('reader');
  const named = lists
    .flatMap(({ records }) => records)
    .map((record) => record['customerId'] ?? (record['customer'] as { id?: unknown } | undefined)?.id)
    .filter((id) => typeof id === 'string');
  if (!list || named.length === 0) throw new NotGiven('a job, a quote or an invoice with a customer');
  const { data, nextCursor } = await readPage(
    party,
    note,
    'listCustomers',
    withParameters(list.target, { limit: '100' }),
  );
  const listed = new Set(data.map(({ id }) => id));
  for (const id of [...new Set(named)].slice(0, DETAILS_MAX)) {
    const { status } = await askChecked(party, note, {
      operationId: 'getCustomer',
      target: pathOf('getCustomer', id),
    });
    if (status !== 200) note(`the customer ${id} of a record is answered ${status}`);
    if (nextCursor === null && !listed.has(id)) note(`the customer ${id} of a record is not listed`);
  }
}

/** A company whose quotes have versions that their customers haven't seen yet shows these among the latest. */
export async function latestVersions(party: Party, note: Note): Promise<void> {
  const isNewer = ({ status, version }: ReadRecord) => status === 'draft' && Number(version) > 1;
  for (const asker of ['reader', 'neighbour'] as const) {
    const list = (await party.lists(asker)).find(({ operationId }) => operationId === 'listQuotes');
    const latest = keptBy('listQuotes', {}, list?.records ?? []);
    if (!list?.isWhole || !latest.some(isNewer)) continue;
    const { data } = await readPage(party, note, 'listQuotes', '/api/v1/quotes?limit=100', asker);
    compareRecords(note, `/api/v1/quotes of the ${asker} key`, data, latest.slice(0, 100));
    return;
  }
  throw new NotGiven('a quote with an older version than its draft');
}

/** Asks for another company's record that the reader's list hasn't got, and that the other company itself does read. */
export async function neighbours(operationId: string, party: Party, note: Note): Promise<void> {
  const own = await listsOf(party, operationId);
  const foreign = foreignRecord(
    own,
    (await party.lists('neighbour')).filter((list) => list.operationId === operationId),
  );
  for (const { target } of own) {
    const { data } = await readPage(party, note, operationId, target);
    if (data.some(({ id }) => id === foreign.id)) note(`${target} shows another company's record`);
  }
  const single = operationId === 'listForms' ? 'listFormSubmissions' : detailOf[operationId];
  const withPdf = operationId === 'listInvoices' ? ['getInvoicePdf'] : [];
  for (const detail of single === undefined ? [] : [single, ...withPdf]) {
    const target = pathOf(detail, foreign.id);
    const theirs = await ask(party.urls.normal, { target, headers: headersOf(party, 'neighbour') });
    if (theirs.status !== 200) note(`${target}: the neighbour gets ${theirs.status}`);
    const answer = await askChecked(party, note, { operationId: detail, target });
    const absent = declaredResponse(detail, 404).examples[0]?.value;
    if (answer.status !== 404 || !isDeepStrictEqual(parsed(answer), absent)) {
      note(`${target}: another company's record is answered ${answer.status} ${codeOf(parsed(answer))}`);
    }
  }
}

/** @throws NotGiven when there is none, or the reader's list isn't wholly known: it may have a record of the same id. */
function foreignRecord(own: readonly WholeList[], theirs: readonly WholeList[]): ReadRecord {
  const ownIds = new Set(own.flatMap((list) => list.records.map(({ id }) => id)));
  const foreign = theirs.flatMap(({ records }) => records).find(({ id }) => !ownIds.has(id));
  if (!foreign || own.some(({ isWhole }) => !isWhole))
    throw new NotGiven('a record that the neighbour has and the reader has not');
  return foreign;
}
