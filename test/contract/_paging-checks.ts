import type { Note } from './_checks.ts';
import { codeOf } from './_conformance.ts';
import { declaredOperation } from './_declared.ts';
import { parsed } from './_exchange.ts';
import { defaultOf, type Filter, filtersOf, keptBy, type Query } from './_filters.ts';
import type { Asker, Party } from './_parties.ts';
import {
  askChecked,
  compareRecords,
  readPage,
  type ReadPage,
  type ReadRecord,
  readWhole,
  type WholeList,
  wholeLists,
  withParameters,
} from './_reading.ts';

/** Only a company with long lists can show how they are cut. */
const asker: Asker = 'large';
const LIMIT_MAX = 100;

type List = Pick<WholeList, 'operationId' | 'target'>;

/** Reads two pages of every list without a limit. */
export async function pagesUnlessTold(party: Party, note: Note): Promise<void> {
  const longest = new Map<string, number>();
  for (const list of wholeLists()) {
    const { operationId, target } = list;
    const whole = await readWhole(party, note, list, asker);
    longest.set(operationId, Math.max(whole.length, longest.get(operationId) ?? 0));
    const limit = defaultLimit(operationId);
    let cursor: string | undefined;
    for (const begin of [0, limit]) {
      const page = await readPage(party, note, operationId, withParameters(target, { cursor }), asker);
      const wanted = whole.slice(begin, begin + limit);
      if (page.data.length !== wanted.length) {
        note(`${target}: a page has ${page.data.length} records, not ${wanted.length}`);
      } else compareRecords(note, target, page.data, wanted);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
  }
  for (const [operationId, count] of longest) {
    if (count <= LIMIT_MAX) note(`${operationId}: the longest list has only ${count} records`);
  }
}

function defaultLimit(operationId: string): number {
  const limit = declaredOperation(operationId).parameters.find(({ name }) => name === 'limit');
  return Number(limit?.schema.default);
}

/** Reads every list with queries in which each filter makes a difference, some on the first page and some on the next. */
export async function filtersOnAllPages(party: Party, note: Note): Promise<void> {
  for (const list of longLists()) {
    const whole = await readWhole(party, note, list, asker);
    const { queries, untold } = tellingQueries(list.operationId, whole);
    for (const name of untold) note(`${list.operationId}: no record shows whether ${name} counts`);
    for (const telling of queries) await readTwoPages(party, note, list, telling);
  }
}

/** Every list that takes filters; of submissions that of one form. */
function longLists(): List[] {
  const lists = wholeLists().filter(({ operationId }) => filtersOf(operationId, []).length > 0);
  return [...new Map(lists.toReversed().map((list) => [list.operationId, list])).values()];
}

interface Telling {
  query: Query;
  wanted: readonly ReadRecord[];
  limit: number;
}

/**
 * Queries of as many filters as possible. Each filter of a query tells: without it one of the first two pages would be
 * another. In one query or another each filter tells on the first page, and on the second.
 */
function tellingQueries(
  operationId: string,
  whole: readonly ReadRecord[],
): { queries: Telling[]; untold: string[] } {
  const filters = filtersOf(operationId, whole).map(({ name, values }) => ({ name, values: spread(values) }));
  const untold = new Set(filters.flatMap(({ name }) => [`${name} on the first page`, `${name} on the next`]));
  const keep = keeper(operationId, whole);
  const candidates = combinations(filters).sort((a, b) => Object.keys(b).length - Object.keys(a).length);
  const queries: Telling[] = [];
  for (const query of candidates) {
    const wanted = keep(query);
    const limit = Math.min(LIMIT_MAX, Math.floor(wanted.length / 2));
    if (limit === 0) continue;
    const told = Object.keys(query).map((name) => toldBy(name, query, wanted.slice(0, 2 * limit), keep));
    if (told.some((places) => places.length === 0)) continue;
    if (!told.flat().some((place) => untold.has(place))) continue;
    for (const place of told.flat()) untold.delete(place);
    queries.push({ query, wanted, limit });
  }
  return { queries, untold: [...untold] };
}

const VALUES_MAX = 6;

/** Few values of many, from all over. */
function spread(values: readonly string[]): string[] {
  const sorted = [...values].sort();
  if (sorted.length <= VALUES_MAX) return sorted;
  return [1, 2, 3].map((quarter) => sorted[Math.floor((sorted.length * quarter) / 4)] ?? '');
}

function combinations(filters: readonly Filter[]): Query[] {
  return filters.reduce<Query[]>(
    (queries, { name, values }) =>
      queries.flatMap((query) => [query, ...values.map((value) => ({ ...query, [name]: value }))]),
    [{}],
  );
}

/** As {@link keptBy}, but what each filter keeps is found out once. */
function keeper(operationId: string, whole: readonly ReadRecord[]): (query: Query) => ReadRecord[] {
  const known = new Map<string, ReadonlySet<ReadRecord>>();
  const keptByOne = (name: string, value: string) => {
    const key = `${name}=${value}`;
    const kept = known.get(key) ?? new Set(keptBy(operationId, everything(operationId, name, value), whole));
    known.set(key, kept);
    return kept;
  };
  const defaults = filtersOf(operationId, []).map(
    ({ name }) => [name, defaultOf(operationId, name)] as const,
  );
  return (query) => {
    const given = Object.entries({ ...Object.fromEntries(defaults), ...query });
    const sets = given.flatMap(([name, value]) => (value === undefined ? [] : [keptByOne(name, value)]));
    return whole.filter((record) => sets.every((kept) => kept.has(record)));
  };
}

/** A query of one filter, in which the defaults of the others leave nothing out. */
function everything(operationId: string, name: string, value: string): Query {
  const others = filtersOf(operationId, []).map((other) => [
    other.name,
    defaultOf(operationId, other.name) === undefined ? undefined : 'all',
  ]);
  return { ...(Object.fromEntries(others) as Query), [name]: value };
}

/** On which of two pages of the wanted records a filter tells. */
function toldBy(
  name: string,
  { [name]: _left, ...others }: Query,
  wanted: readonly ReadRecord[],
  keep: (query: Query) => ReadRecord[],
): string[] {
  const limit = wanted.length / 2;
  const kept = keep(others);
  const lastId = wanted[limit - 1]?.id ?? '';
  const next = kept.filter(({ id }) => id > lastId);
  return [
    ...(wanted.slice(0, limit).some((record, index) => record !== kept[index])
      ? [`${name} on the first page`]
      : []),
    ...(wanted.slice(limit).some((record, index) => record !== next[index]) ? [`${name} on the next`] : []),
  ];
}

async function readTwoPages(
  party: Party,
  note: Note,
  { operationId, target }: List,
  { query, wanted, limit }: Telling,
): Promise<void> {
  const asked = withParameters(target.replace(/\?.*$/, ''), { ...query, limit: String(limit) });
  const first = await readPage(party, note, operationId, asked, asker);
  compareRecords(note, asked, first.data, wanted.slice(0, limit));
  if (first.nextCursor === null) {
    note(`${asked}: there is no second page`);
    return;
  }
  const next = withParameters(asked, { cursor: first.nextCursor });
  const second = await readPage(party, note, operationId, next, asker);
  compareRecords(note, next, second.data, wanted.slice(limit, 2 * limit));
}

/** Takes the cursor of a first page to other filters, and to other limits. */
export async function cursorsElsewhere(party: Party, note: Note): Promise<void> {
  for (const list of wholeLists()) {
    const { operationId, target } = list;
    const whole = await readWhole(party, note, list, asker);
    // There is a form that nobody has filled in.
    if (whole.length === 0) continue;
    const path = target.replace(/\?.*$/, '');
    const filters = filtersOf(operationId, whole);
    const first = await readFirst(party, note, operationId, target);
    for (const limit of ['2', '7', '100', undefined]) {
      const asked = withParameters(target, { cursor: first.cursor, limit });
      const outcome = await outcomeOf(party, note, operationId, asked);
      if (outcome.said !== '200') note(`${asked} after limit=1: ${outcome.said}, not 200`);
      const end = 1 + Number(limit ?? defaultLimit(operationId));
      compareRecords(note, asked, outcome.page.data, outcome.said === '200' ? whole.slice(1, end) : []);
    }
    for (const { from, to } of changesOf(operationId, filters, whole)) {
      const { cursor } = await readFirst(party, note, operationId, withParameters(path, from));
      const asked = withParameters(path, { ...to, cursor });
      const { said } = await outcomeOf(party, note, operationId, asked);
      if (said !== '400 invalid_cursor') note(`${asked} after ${JSON.stringify(from)}: ${said}, not 400`);
    }
  }
}

/** Each filter added, left out, and with another value; only from queries that have a second page. */
function changesOf(
  operationId: string,
  filters: readonly Filter[],
  whole: readonly ReadRecord[],
): { from: Query; to: Query }[] {
  const hasNext = (query: Query) => keptBy(operationId, query, whole).length > 1;
  return filters.flatMap(({ name, values }) => {
    const others = values.filter((value) => value !== defaultOf(operationId, name));
    const [one] = others.filter((value) => hasNext({ [name]: value }));
    const another = others.find((value) => value !== one);
    if (one === undefined) throw new Error(`No value of ${name} leaves two records of ${operationId}.`);
    const changed = another === undefined ? [] : [{ from: { [name]: one }, to: { [name]: another } }];
    return [{ from: {}, to: { [name]: one } }, { from: { [name]: one }, to: {} }, ...changed];
  });
}

async function readFirst(
  party: Party,
  note: Note,
  operationId: string,
  target: string,
): Promise<{ cursor: string }> {
  const asked = withParameters(target, { limit: '1' });
  const { nextCursor } = await readPage(party, note, operationId, asked, asker);
  if (nextCursor === null) note(`${asked}: there is no second page`);
  return { cursor: nextCursor ?? '' };
}

async function outcomeOf(
  party: Party,
  note: Note,
  operationId: string,
  target: string,
): Promise<{ said: string; page: ReadPage }> {
  const answer = await askChecked(party, note, { operationId, target, asker });
  const page: ReadPage = { data: [], nextCursor: null, ...(parsed(answer) as Partial<ReadPage>) };
  return { said: answer.status === 200 ? '200' : `${answer.status} ${codeOf(parsed(answer))}`, page };
}

/** Writes the same moments in every way that RFC 3339 allows. */
export async function timesWithOffsets(party: Party, note: Note): Promise<void> {
  for (const { operationId, target, records } of wholeLists()) {
    const { parameters } = declaredOperation(operationId);
    if (!parameters.some(({ name }) => name === 'updatedSince')) continue;
    for (const time of new Set(records.map(changedAt))) {
      for (const { text, since } of writings(time)) {
        const asked = withParameters(target, { updatedSince: text });
        const { data } = await readPage(party, note, operationId, asked);
        const wanted = records.filter((record) => Date.parse(changedAt(record)) >= since);
        compareRecords(note, `${target} since ${text}`, data, wanted);
      }
    }
  }
}

function changedAt(record: ReadRecord): string {
  return String(record['updatedAt'] ?? record['createdAt']);
}

const MINUTE_MS = 60_000;

function writings(time: string): { text: string; since: number }[] {
  const since = Date.parse(time);
  const at = (minutes: number, offset: string) => ({
    text: new Date(since + minutes * MINUTE_MS).toISOString().replace('Z', offset),
    since,
  });
  return [
    at(60, '+01:00'),
    at(-5 * 60, '-05:00'),
    at(5 * 60 + 45, '+05:45'),
    at(0, '+00:00'),
    { text: time.replace('Z', '000Z'), since },
    { text: time.toLowerCase(), since },
    // A little later than the record, and so the record is left out.
    { text: time.replace('Z', '1Z'), since: since + 1 },
  ];
}
