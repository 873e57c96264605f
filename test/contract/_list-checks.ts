import { isDeepStrictEqual } from 'node:util';

import { examplesOf, operationOf, withoutQuery } from './_contract.ts';
import {
  ask,
  compareRecords,
  type Exam,
  expect,
  firstDifference,
  type ListedRecord,
  readPage,
  withParameters,
} from './_exam.ts';
import { exchange, parsed, said } from './_exchange.ts';
import { keptBy } from './_filters.ts';
import { detailOf, listsOf, operationsOfRecords, pathOf, type WholeList } from './_lists.ts';
import { type Asker, headersOf, NotGiven } from './_parties.ts';

/** Of a list whose end isn't known so many pages are read with each limit, and of any other so many at most. */
const LONG_PAGES_MAX = 5;
const PAGES_MAX = 50;

/** Reads a list to its end, with several limits. */
export async function pagedLists(exam: Exam, list: WholeList): Promise<void> {
  for (const limit of new Set([1, 2, 3, list.records.length, 100]))
    if (limit > 0 && limit <= 100) await crawl(exam, list, limit);
}

async function crawl(exam: Exam, list: WholeList, limit: number): Promise<void> {
  const { target, records, isWhole } = list;
  const isShort = isWhole && records.length / limit < PAGES_MAX;
  const { seen, isAtEnd } = await readPages(exam, list, limit, isShort ? PAGES_MAX : LONG_PAGES_MAX);
  const what = `${target} by ${limit}`;
  if (isShort && !isAtEnd) exam.note(`${what}: nextCursor never becomes null`);
  const wanted = isAtEnd ? records : records.slice(0, seen.length);
  compareRecords(exam, what, isWhole && isAtEnd ? seen : seen.slice(0, records.length), wanted);
}

async function readPages(
  exam: Exam,
  { operationId, target, records, isWhole }: WholeList,
  limit: number,
  pagesMax: number,
): Promise<{ seen: ListedRecord[]; isAtEnd: boolean }> {
  const seen: ListedRecord[] = [];
  const what = `${target} by ${limit}`;
  let cursor: string | undefined;
  for (let pages = 0; pages < pagesMax; pages++) {
    const asked = withParameters(target, { limit: String(limit), cursor });
    const { data, nextCursor } = await readPage(exam, { operationId, target: asked });
    seen.push(...data);
    if (data.length > limit) exam.note(`${what}: a page has ${data.length} records`);
    if (nextCursor === null) return { seen, isAtEnd: true };
    if (data.length < limit) exam.note(`${what}: a page before the last has ${data.length} records`);
    if (isWhole && seen.length >= records.length) exam.note(`${what}: nextCursor leads past the last record`);
    cursor = nextCursor;
  }
  return { seen, isAtEnd: false };
}

/** Of a company that no example describes so many records are read one by one. */
const DETAILS_MAX = 20;

/** Reads each record of a list by its own path too. */
export async function detailsOfLists(exam: Exam, { operationId, target }: WholeList): Promise<void> {
  const detail = detailOf(operationId) ?? '';
  const { data } = await readPage(exam, { operationId, target });
  if (data.length === 0) throw new NotGiven(`a record that ${operationId} lists`);
  for (const record of data.slice(0, exam.party.isExample ? Infinity : DETAILS_MAX)) {
    const path = pathOf(detail, record.id);
    const answer = await ask(exam, { operationId: detail, target: path });
    const whole = (parsed(answer) as { data?: ListedRecord } | undefined)?.data;
    const shared = Object.fromEntries(Object.keys(record).map((name) => [name, whole?.[name]]));
    if (!isDeepStrictEqual(shared, record)) exam.note(`${path}: ${firstDifference(shared, record)}`);
  }
}

/** Looks up the customers that jobs, quotes and invoices name: none is ever left out, archived or not. */
export async function namedCustomers(exam: Exam): Promise<void> {
  const [list] = await listsOf(exam, 'listCustomers');
  const named = (await exam.party.lists('reader'))
    .flatMap(({ records }) => records)
    .map(({ customerId, customer }) => customerId ?? (customer as { id?: unknown } | undefined)?.id)
    .filter((id) => typeof id === 'string');
  if (!list || named.length === 0) throw new NotGiven('a job, a quote or an invoice with a customer');
  const target = withParameters(list.target, { limit: '100' });
  const { data, nextCursor } = await readPage(exam, { operationId: 'listCustomers', target });
  const listed = new Set(data.map(({ id }) => id));
  for (const id of [...new Set(named)].slice(0, DETAILS_MAX)) {
    await expect(exam, { operationId: 'getCustomer', target: pathOf('getCustomer', id) }, '200');
    if (nextCursor === null && !listed.has(id)) exam.note(`the customer ${id} of a record is not listed`);
  }
}

/** A company whose quotes have versions that their customers haven't seen yet shows these among the latest. */
export async function latestVersions(exam: Exam): Promise<void> {
  const isNewer = ({ status, version }: ListedRecord) => status === 'draft' && Number(version) > 1;
  for (const asker of ['reader', 'neighbour'] as const) {
    const list = (await exam.party.lists(asker)).find(({ operationId }) => operationId === 'listQuotes');
    const latest = keptBy('listQuotes', {}, list?.records ?? []);
    if (!list?.isWhole || !latest.some(isNewer)) continue;
    const target = withParameters(withoutQuery(list.target), { limit: '100' });
    const { data } = await readPage(exam, { operationId: 'listQuotes', target, asker });
    compareRecords(exam, `${target} of the ${asker} key`, data, latest.slice(0, 100));
    return;
  }
  throw new NotGiven('a quote with an older version than its draft');
}

/** Asks for another company's record that the reader's list hasn't got, and that the other company itself does read. */
export async function neighbours(exam: Exam, operationId: string): Promise<void> {
  const own = await listsOf(exam, operationId);
  const foreign = await foreignRecord(exam, own);
  for (const { target } of own) {
    const { data } = await readPage(exam, { operationId, target });
    if (data.some(({ id }) => id === foreign.id)) exam.note(`${target} shows another company's record`);
  }
  for (const { operationId: detail } of operationsOfRecords(operationId)) {
    const target = pathOf(detail, foreign.id);
    const headers = headersOf(exam.party, 'neighbour');
    const theirs = await exchange(exam.party.urls.normal, { target, headers });
    if (theirs.status !== 200) exam.note(`${target}: the neighbour gets ${theirs.status}`);
    const answer = await ask(exam, { operationId: detail, target });
    if (answer.status !== 404 || !isDeepStrictEqual(parsed(answer), examplesOf(detail, 404)[0]?.value))
      exam.note(`${target}: another company's record is answered ${said(answer)}`);
  }
}

/** @throws NotGiven when there is none, or the reader's list isn't wholly known: it may have a record of the same id. */
async function foreignRecord({ party }: Exam, own: readonly WholeList[]): Promise<ListedRecord> {
  const ownIds = new Set(own.flatMap(({ records }) => records.map(({ id }) => id)));
  const foreign = (await party.lists('neighbour'))
    .filter(({ operationId }) => operationId === own[0]?.operationId)
    .flatMap(({ records }) => records)
    .find(({ id }) => !ownIds.has(id));
  if (!foreign || own.some(({ isWhole }) => !isWhole))
    throw new NotGiven('a record that the neighbour has and the reader has not');
  return foreign;
}

/** The longest list that an asker has of an operation: only such a company can show how lists are cut. */
export async function longestList({ party }: Exam, operationId: string, asker: Asker): Promise<WholeList> {
  const lists = (await party.lists(asker)).filter((list) => list.operationId === operationId);
  const [longest] = lists.sort((a, b) => b.records.length - a.records.length);
  if (!longest) throw new NotGiven(`a list of ${operationId} for the ${asker} key`);
  return longest;
}

/** The records on a page that is asked for without `limit`. */
export function defaultLimit(operationId: string): number {
  const limit = operationOf(operationId).parameters.find(({ name }) => name === 'limit');
  return Number(limit?.schema.default);
}

/** Reads two pages of a long list without a limit. */
export async function pagesUnlessTold(exam: Exam, operationId: string): Promise<void> {
  const asker = 'large';
  const { target, records: whole } = await longestList(exam, operationId, asker);
  const limit = defaultLimit(operationId);
  if (whole.length <= 2 * limit)
    throw new NotGiven(`more than ${2 * limit} records for the ${asker} key in ${operationId}`);
  let cursor: string | undefined;
  for (const begin of [0, limit]) {
    const asked = { operationId, target: withParameters(target, { cursor }), asker } as const;
    const page = await readPage(exam, asked);
    if (page.data.length !== limit)
      exam.note(`${target}: a page has ${page.data.length} records, not ${limit}`);
    else compareRecords(exam, target, page.data, whole.slice(begin, begin + limit));
    cursor = page.nextCursor ?? undefined;
  }
}
