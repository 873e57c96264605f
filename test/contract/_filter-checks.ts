import { operationOf, withoutQuery } from './_contract.ts';
import {
  ask,
  compareRecords,
  type Exam,
  expect,
  type ListedRecord,
  readPage,
  withParameters,
} from './_exam.ts';
import { exchange } from './_exchange.ts';
import { changedAt, defaultsOf, type Filter, filtersOf, keptBy, type Query } from './_filters.ts';
import { defaultLimit, longestList } from './_list-checks.ts';
import type { WholeList } from './_lists.ts';
import { headersOf, NotGiven } from './_parties.ts';

/** Only a company with long lists can show how they are cut. */
const asker = 'large';
const LIMIT_MAX = 100;

/** Asks a list with a query, and compares as much as is known of it. */
async function compareFiltered(exam: Exam, list: WholeList, query: Query): Promise<void> {
  const { operationId, target, records, isWhole } = list;
  const asked = withParameters(withoutQuery(target), { ...query, limit: String(LIMIT_MAX) });
  const { data, nextCursor } = await readPage(exam, { operationId, target: asked });
  const last = isWhole ? undefined : records.at(-1)?.id;
  const known = data.filter(({ id }) => last === undefined || id <= last);
  compareRecords(exam, asked, known, keptBy(operationId, query, records).slice(0, LIMIT_MAX));
  if (isWhole && data.length < LIMIT_MAX && nextCursor !== null)
    exam.note(`${asked}: nextCursor leads past the last record`);
}

/** Of a company that no example describes so many values of each filter are tried. */
const VALUES_MAX = 8;

/** Asks a list with each value of each filter, and with each pair of filters. */
export async function filteredLists(exam: Exam, list: WholeList): Promise<void> {
  const valuesMax = exam.party.isExample ? Infinity : VALUES_MAX;
  const filters = filtersOf(list.operationId, list.records).map(({ name, values }) => ({
    name,
    values: values.filter((_value, index) => index % Math.max(1, Math.ceil(values.length / valuesMax)) === 0),
  }));
  const alone = filters.flatMap(({ name, values }) => values.map((value) => ({ [name]: value })));
  const few = filters.map(({ name, values }) => ({ name, values: values.slice(0, 3) }));
  const pairs = combinations(few).filter((query) => Object.keys(query).length === 2);
  for (const query of [{}, ...alone, ...pairs]) await compareFiltered(exam, list, query);
}

/** Every query of one value, or none, of each filter; those of most filters first. */
function combinations(filters: readonly Filter[]): Query[] {
  return filters
    .reduce<Query[]>(
      (queries, { name, values }) =>
        queries.flatMap((query) => [query, ...values.map((value) => ({ ...query, [name]: value }))]),
      [{}],
    )
    .sort((a, b) => Object.keys(b).length - Object.keys(a).length);
}

/** Reads two pages with queries of many filters, so that each filter makes a difference on the first page and on the next. */
export async function filtersOnAllPages(exam: Exam, operationId: string): Promise<void> {
  const list = await longestList(exam, operationId, asker);
  const filters = filtersOf(operationId, list.records).map(({ name, values }) => ({
    name,
    values: spread(values),
  }));
  const candidates = combinations(filters);
  const pages = pagesOf(operationId, list.records);
  const telling = new Set<Query>();
  const untold: string[] = [];
  for (const { name } of filters) {
    for (const [index, place] of ['on the first page', 'on the next'].entries()) {
      const found = candidates.find((query) => name in query && tells(query, name, index, pages));
      if (found) telling.add(found);
      else untold.push(`${name} ${place}`);
    }
  }
  for (const query of telling) await readTwoPages(exam, list, query, pages(query));
  if (untold.length > 0) throw new NotGiven(`a record that shows whether ${untold.join(' and ')} counts`);
}

const SPREAD_MAX = 6;

/** Few values of many, from all over. */
function spread(values: readonly string[]): string[] {
  const sorted = [...values].sort();
  if (sorted.length <= SPREAD_MAX) return sorted;
  return [1, 2, 3].map((quarter) => sorted[Math.floor((sorted.length * quarter) / 4)] ?? '');
}

/** The first two pages of what a query keeps, half of it on each; `after` begins the second elsewhere. */
type Pages = (query: Query, limit?: number, after?: string) => [ListedRecord[], ListedRecord[]];

function pagesOf(operationId: string, whole: readonly ListedRecord[]): Pages {
  const known = new Map<string, ListedRecord[]>();
  return (query, limit, after) => {
    const key = JSON.stringify(query);
    const kept = known.get(key) ?? keptBy(operationId, query, whole);
    known.set(key, kept);
    const length = limit ?? Math.min(LIMIT_MAX, Math.floor(kept.length / 2));
    const rest = after === undefined ? kept.slice(length) : kept.filter(({ id }) => id > after);
    return [kept.slice(0, length), rest.slice(0, length)];
  };
}

/** Whether a page of a query would be another one without a filter. */
function tells(query: Query, name: string, index: number, pages: Pages): boolean {
  // Without it the contract's default counts.
  const others = Object.fromEntries(Object.entries(query).filter(([other]) => other !== name));
  const wanted = pages(query);
  const { length } = wanted[0];
  const without = pages(others, length, wanted[0].at(-1)?.id);
  return length > 0 && wanted[index]?.some((record, at) => record !== without[index]?.[at]) === true;
}

async function readTwoPages(
  exam: Exam,
  { operationId, target }: WholeList,
  query: Query,
  [first, second]: readonly ListedRecord[][],
): Promise<void> {
  const asked = withParameters(withoutQuery(target), { ...query, limit: String(first?.length) });
  const page = await readPage(exam, { operationId, target: asked, asker });
  compareRecords(exam, asked, page.data, first ?? []);
  if (page.nextCursor === null) {
    exam.note(`${asked}: there is no second page`);
    return;
  }
  const next = withParameters(asked, { cursor: page.nextCursor });
  compareRecords(exam, next, (await readPage(exam, { operationId, target: next, asker })).data, second ?? []);
}

/** Takes the cursor of a first page to other filters, and to other limits. */
export async function cursorsElsewhere(exam: Exam, operationId: string): Promise<void> {
  const { target, records: whole } = await longestList(exam, operationId, asker);
  if (whole.length < 2) throw new NotGiven(`two records for the ${asker} key in ${operationId}`);
  const firstCursor = async (from: string) => {
    const asked = withParameters(from, { limit: '1' });
    const { nextCursor } = await readPage(exam, { operationId, target: asked, asker });
    if (nextCursor === null) exam.note(`${asked}: there is no second page`);
    return nextCursor ?? '';
  };
  const cursor = await firstCursor(target);
  for (const limit of ['2', '7', '100', undefined]) {
    const asked = withParameters(target, { cursor, limit });
    const page = await readPage(exam, { operationId, target: asked, asker });
    compareRecords(exam, asked, page.data, whole.slice(1, 1 + Number(limit ?? defaultLimit(operationId))));
  }
  for (const [from, to] of changesOf(operationId, whole)) {
    const given = await firstCursor(withParameters(withoutQuery(target), from));
    const asked = withParameters(withoutQuery(target), { ...to, cursor: given });
    const what = `${asked} after ${JSON.stringify(from)}`;
    await expect(exam, { operationId, target: asked, asker }, '400 invalid_cursor', what);
  }
}

/** Each filter added, left out, and with another value; only from queries that have a second page. */
function changesOf(operationId: string, whole: readonly ListedRecord[]): [from: Query, to: Query][] {
  const defaults = defaultsOf(operationOf(operationId));
  return filtersOf(operationId, whole).flatMap(({ name, values }) => {
    const others = values.filter((value) => value !== defaults[name]);
    const one = others.find((value) => keptBy(operationId, { [name]: value }, whole).length > 1);
    if (one === undefined) return [];
    const given = { [name]: one };
    const another = others.filter((value) => value !== one).slice(0, 1);
    const to = [{}, ...another.map((value) => ({ [name]: value }))];
    return [[{}, given], ...to.map((query): [Query, Query] => [given, query])];
  });
}

/** Every character as an escape (RFC 3986 section 6.2.2.2). */
const escaped = (text: string) =>
  [...text].map((one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');

/** Writes each character of names and values as an escape, and a query without parameters. */
export async function escapedQueries(exam: Exam, { operationId, target, records }: WholeList): Promise<void> {
  const path = withoutQuery(target);
  const headers = headersOf(exam.party, 'reader');
  const filters = filtersOf(operationId, records).map(({ name, values }) => [name, values[0]] as const);
  const parameters = [['limit', '2'] as const, ...filters];
  const cases = parameters.flatMap(([name, value]) => {
    if (value === undefined) return [];
    const plain = `?${name}=${encodeURIComponent(value)}`;
    return [
      [plain, `?${escaped(name)}=${escaped(value)}`],
      [plain, `?${name}=${escaped(value).toUpperCase()}`],
    ];
  });
  for (const [plain = '', written = ''] of [['', '?'], ...cases]) {
    const one = await ask(exam, { operationId, target: path + plain });
    const other = await exchange(exam.party.urls.normal, {
      target: path + written,
      headers,
      isAsWritten: true,
    });
    if (other.status !== 200) exam.note(`${path}${written} is answered ${other.status}, not 200`);
    else if (one.body !== other.body) exam.note(`${path}${written} is answered otherwise than ${plain}`);
  }
}

/** The same cursor with another character at a place. */
function withOther(cursor: string, place: number): string {
  return cursor.slice(0, place) + (cursor[place] === 'A' ? 'Q' : 'A') + cursor.slice(place + 1);
}

/** Ways to damage a cursor. */
const damages: Readonly<Record<string, (cursor: string) => string>> = {
  'another last character': (cursor) => withOther(cursor, cursor.length - 1),
  'another character in its first quarter': (cursor) => withOther(cursor, Math.floor(cursor.length / 4) - 1),
  'another character in the middle': (cursor) => withOther(cursor, Math.floor(cursor.length / 2) - 1),
  'another character in its last quarter': (cursor) =>
    withOther(cursor, Math.floor(cursor.length * 0.75) - 1),
  'another character in the second place': (cursor) => withOther(cursor, 1),
  'another version': (cursor) => cursor.replace(/^./, '2'),
  'less than it': (cursor) => cursor.slice(0, -1),
  'its first half': (cursor) => cursor.slice(0, cursor.length / 2),
  'its first character alone': (cursor) => cursor.slice(0, 1),
  'its second half': (cursor) => cursor.slice(cursor.length / 2),
  'more than it': (cursor) => `${cursor}A`,
  'it twice': (cursor) => cursor + cursor,
  padding: (cursor) => `${cursor}=`,
  'a blank before it': (cursor) => ` ${cursor}`,
  'a blank after it': (cursor) => `${cursor} `,
  'a line end after it': (cursor) => `${cursor}\n`,
  'its letters the other way round': (cursor) => [...cursor].reverse().join(''),
  'capital letters': (cursor) => cursor.toUpperCase(),
  'an id': () => 'job_0001',
  'a number': () => '1',
  null: () => 'null',
  '8,100 characters': (cursor) => cursor.padEnd(8_100, 'a'),
};

/** Damages the cursor of a first page in many ways; each is refused, and none begins the list anew. */
export async function damagedCursors(exam: Exam, { operationId, target }: WholeList): Promise<void> {
  const first = withParameters(target, { limit: '1' });
  const { nextCursor } = await readPage(exam, { operationId, target: first });
  if (nextCursor === null) throw new NotGiven(`two records that ${operationId} lists`);
  for (const [name, damage] of Object.entries(damages)) {
    const cursor = damage(nextCursor);
    const asked = { operationId, target: withParameters(first, { cursor }) };
    if (cursor !== nextCursor) await expect(exam, asked, '400 invalid_cursor', `a cursor with ${name}`);
  }
}

/** Of a company that no example describes so many moments are written. */
const MOMENTS_MAX = 4;
const MINUTE_MS = 60_000;

/** The ends of RFC 3339's years, also where an offset leads beyond them, and a second that was inserted at the end of 2016. */
const farthest = [
  '0001-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59-12:00',
  '2016-12-31T23:59:60Z',
  '2016-12-31T18:59:60.5-05:00',
];

/** Writes the same moments in every way that RFC 3339 allows. */
export async function timesWithOffsets(exam: Exam, list: WholeList): Promise<void> {
  const momentsMax = exam.party.isExample ? Infinity : MOMENTS_MAX;
  const moments = [...new Set(list.records.map(changedAt))].slice(0, momentsMax);
  for (const updatedSince of [...moments.flatMap(writings), ...farthest])
    await compareFiltered(exam, list, { ...wholeQuery(list), updatedSince });
}

/** The parameters of a target. */
function wholeQuery({ target }: WholeList): Query {
  return Object.fromEntries(new URLSearchParams(target.split('?')[1]));
}

function writings(time: string): string[] {
  const at = (minutes: number, offset: string) =>
    new Date(Date.parse(time) + minutes * MINUTE_MS).toISOString().replace('Z', offset);
  return [
    at(60, '+01:00'),
    at(-5 * 60, '-05:00'),
    at(5 * 60 + 45, '+05:45'),
    at(0, '+00:00'),
    time.replace('Z', '000Z'),
    time.toLowerCase(),
    // A little later than the record, and so the record is left out.
    time.replace('Z', '1Z'),
  ];
}
