import type { Note } from './_checks.ts';
import { codeOf } from './_conformance.ts';
import { declaredOperation } from './_declared.ts';
import { askAsWritten, parsed } from './_exchange.ts';
import { defaultOf, type Filter, filtersOf, keptBy, type Query } from './_filters.ts';
import { type Asker, headersOf, NotGiven, type Party } from './_parties.ts';
import {
  askChecked,
  compareRecords,
  readPage,
  type ReadPage,
  type ReadRecord,
  type WholeList,
  withParameters,
} from './_reading.ts';

/** Only a company with long lists can show how they are cut. */
const asker: Asker = 'large';
const LIMIT_MAX = 100;

type List = Pick<WholeList, 'operationId' | 'target'>;

/** Reads two pages of a long list without a limit. */
export async function pagesUnlessTold(operationId: string, party: Party, note: Note): Promise<void> {
  const list = await longestList(operationId, party);
  const whole = list.records;
  if (whole.length <= LIMIT_MAX)
    throw new NotGiven(`more than ${LIMIT_MAX} records for the ${asker} key in ${operationId}`);
  const { target } = list;
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

/** The longest list of an operation, and as much of it as is looked at. */
async function longestList(operationId: string, party: Party): Promise<WholeList> {
  const lists = (await party.lists(asker)).filter((list) => list.operationId === operationId);
  const [longest] = lists.sort((a, b) => b.records.length - a.records.length);
  if (!longest) throw new NotGiven(`a list of ${operationId} for the ${asker} key`);
  return longest;
}

function defaultLimit(operationId: string): number {
  const limit = declaredOperation(operationId).parameters.find(({ name }) => name === 'limit');
  return Number(limit?.schema.default);
}

/** Reads a list with queries in which each filter makes a difference, some on the first page and some on the next. */
export async function filtersOnAllPages(operationId: string, party: Party, note: Note): Promise<void> {
  const list = await longestList(operationId, party);
  const whole = list.records;
  const { queries, untold } = tellingQueries(operationId, whole);
  for (const telling of queries) await readTwoPages(party, note, list, telling);
  if (untold.length > 0) throw new NotGiven(`a record that shows whether ${untold.join(' and ')} counts`);
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
export async function cursorsElsewhere(operationId: string, party: Party, note: Note): Promise<void> {
  const list = await longestList(operationId, party);
  const whole = list.records;
  if (whole.length < 2) throw new NotGiven(`two records for the ${asker} key in ${operationId}`);
  const { target } = list;
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

/** Writes each character of names and values as an escape (RFC 3986 section 6.2.2.2), and a query without parameters. */
export async function escapedQueries(list: WholeList, party: Party, note: Note): Promise<void> {
  const { operationId, target, records } = list;
  const path = target.replace(/\?.*$/, '');
  const filters = filtersOf(operationId, records).flatMap(({ name, values }) =>
    values.slice(0, 1).map((value) => [name, value] as const),
  );
  const escaped = (text: string) =>
    [...text].map((one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
  const cases = [['limit', '2'] as const, ...filters].flatMap(([name, value]) => [
    { plain: `${name}=${encodeURIComponent(value)}`, written: `${escaped(name)}=${escaped(value)}` },
    { plain: `${name}=${encodeURIComponent(value)}`, written: `${name}=${escaped(value).toUpperCase()}` },
  ]);
  for (const { plain, written } of [{ plain: undefined, written: '' }, ...cases]) {
    const asked = `${path}?${written}`;
    const one = await askChecked(party, note, {
      operationId,
      target: plain === undefined ? path : `${path}?${plain}`,
    });
    const other = await askAsWritten(party.urls.normal, {
      target: asked,
      headers: headersOf(party, 'reader'),
    });
    if (other.status !== 200) note(`${asked} is answered ${other.status}, not 200`);
    else if (one.body !== other.body) note(`${asked} is answered otherwise than ${plain ?? 'no query'}`);
  }
}

/** Ways to damage a cursor. */
const damages: readonly [name: string, damage: (cursor: string) => string][] = [
  ...[1, 0.25, 0.5, 0.75].map((part): [string, (cursor: string) => string] => [
    `another character at ${part * 100} % of it`,
    (cursor) => {
      const place = Math.max(1, Math.floor(cursor.length * part) - 1);
      // Of the last character of base64url some bits may mean nothing.
      const other = cursor[place] === 'A' ? 'Q' : 'A';
      return cursor.slice(0, place) + other + cursor.slice(place + 1);
    },
  ]),
  [
    'another character in the second place',
    (cursor) => cursor.replace(/^(.)./, (two, first: string) => first + (two.endsWith('A') ? 'Q' : 'A')),
  ],
  ['another version', (cursor) => cursor.replace(/^./, '2')],
  ['less than it', (cursor) => cursor.slice(0, -1)],
  ['its first half', (cursor) => cursor.slice(0, cursor.length / 2)],
  ['its first character alone', (cursor) => cursor.slice(0, 1)],
  ['its second half', (cursor) => cursor.slice(cursor.length / 2)],
  ['more than it', (cursor) => `${cursor}A`],
  ['it twice', (cursor) => cursor + cursor],
  ['padding', (cursor) => `${cursor}=`],
  ['a blank before it', (cursor) => ` ${cursor}`],
  ['a blank after it', (cursor) => `${cursor} `],
  ['a line end after it', (cursor) => `${cursor}\n`],
  ['its letters the other way round', (cursor) => [...cursor].reverse().join('')],
  ['capital letters', (cursor) => cursor.toUpperCase()],
  ['an id', () => 'job_0001'],
  ['a number', () => '1'],
  ['null', () => 'null'],
  ['8,100 characters', (cursor) => cursor.padEnd(8_100, 'a')],
];

/** Damages the cursor of a first page in many ways; each is refused, and none begins the list anew. */
export async function damagedCursors(
  { operationId, target }: WholeList,
  party: Party,
  note: Note,
): Promise<void> {
  const { nextCursor } = await readPage(party, note, operationId, withParameters(target, { limit: '1' }));
  if (nextCursor === null) throw new NotGiven(`two records that ${operationId} lists`);
  for (const [name, damage] of damages) {
    const cursor = damage(nextCursor);
    if (cursor === nextCursor) continue;
    const asked = withParameters(target, { limit: '1', cursor });
    const answer = await askChecked(party, note, { operationId, target: asked });
    const said = answer.status === 200 ? '200' : `${answer.status} ${codeOf(parsed(answer))}`;
    if (said !== '400 invalid_cursor') note(`a cursor with ${name}: ${said}, not 400 invalid_cursor`);
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
    if (one === undefined) return [];
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

/** Of a company that no example describes so many moments are written. */
const MOMENTS_MAX = 4;

/** Writes the same moments in every way that RFC 3339 allows. */
export async function timesWithOffsets(list: WholeList, party: Party, note: Note): Promise<void> {
  const { operationId, target, records, isWhole } = list;
  const moments = [...new Set(records.map(changedAt))].slice(0, party.isExample ? Infinity : MOMENTS_MAX);
  const farthest = [FIRST_MOMENT, LAST_MOMENT, LEAP_SECOND].flat();
  const last = isWhole ? undefined : records.at(-1)?.id;
  for (const { text, since } of [...moments.flatMap(writings), ...farthest]) {
    const asked = withParameters(target, { updatedSince: text, limit: '100' });
    const { data } = await readPage(party, note, operationId, asked);
    const wanted = records.filter((record) => Date.parse(changedAt(record)) >= since).slice(0, 100);
    const known = data.filter(({ id }) => last === undefined || id <= last);
    compareRecords(note, `${target} since ${text}`, known, wanted);
  }
}

/** The ends of RFC 3339's years, also where an offset leads beyond them, and a second that was inserted at the end of 2016. */
const FIRST_MOMENT = ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00'].map((text) => ({
  text,
  since: -Infinity,
}));
const LAST_MOMENT = ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59-12:00'].map((text) => ({
  text,
  since: Infinity,
}));
const LEAP_SECOND = [
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
  ['2016-12-31T18:59:60.5-05:00', '2017-01-01T00:00:00.5Z'],
].map(([text = '', same = '']) => ({ text, since: Date.parse(same) }));

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
