import { setImmediate as turn } from 'node:timers/promises';

import { sql } from 'kysely';

import type { Invoice } from '../../../contract/records.ts';
import { joinRecordTexts } from '../../../contract/render.ts';
import type { Reads } from '../../store/engines/engine.ts';
import {
  AFTER_ALL,
  type DocumentSearch,
  entries,
  type Group,
  keyOf,
  type Part,
  partsOf,
} from './searched-parts.ts';

/** A found document with its place in the order of documents: its day followed by its id. The newest comes first. */
export interface FoundDocument {
  document: Invoice;
  place: string;
}

/** The sums, in minor units, of a search's documents that share a currency, a kind and a status. */
export interface DocumentTotal extends Group {
  count: number;
  grossMinor: number;
  dueMinor: number;
}

/** Sums from the database: PostgreSQL's driver returns large numbers as strings. */
type Summed = Record<'count' | 'grossMinor' | 'dueMinor', number | string>;
type FoundRow = Summed & { place: string };

/** Number of documents read at once, each of a few kilobytes. */
const BATCH_DOCUMENTS = 200;

/**
 * Reads a page of a search, newest first, and the totals of the whole search. It scans the company's part of one index once,
 * because that index holds all that a search needs. Two parts are scanned at a time: PostgreSQL scans in processes of its
 * own.
 * @param page.after the place of the previous page's last document; undefined for the first page.
 */
export async function searchDocuments(
  engine: Reads,
  company: string,
  search: DocumentSearch,
  { after = AFTER_ALL, limit }: { after: string | undefined; limit: number },
): Promise<{ found: FoundDocument[]; totals: DocumentTotal[] }> {
  const totals = new Map<string, DocumentTotal>();
  const rows: FoundRow[] = [];
  const parts = partsOf(engine, company, search);
  const readParts = async () => {
    for await (const part of parts) {
      const { currency, kind, status } = part;
      const newer = rows.filter(({ place }) => place >= part.below).length;
      const page = { after, limit: limit - newer };
      const { found, others } = await readPart(engine, company, part, search, page);
      rows.push(...found);
      const none = { currency, kind, status, count: 0, grossMinor: 0, dueMinor: 0 };
      const total = totals.get(keyOf(part)) ?? none;
      for (const sums of [...found, ...others])
        for (const name of ['count', 'grossMinor', 'dueMinor'] as const) total[name] += Number(sums[name]);
      if (total.count > 0) totals.set(keyOf(part), total);
    }
  };
  await Promise.all([readParts(), readParts()]);
  rows.sort((a, b) => (a.place < b.place ? 1 : -1));
  return {
    found: await readDocuments(engine, company, rows.slice(0, limit)),
    totals: [...totals].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, total]) => total),
  };
}

/** Reads all documents of a search in batches, the newest first. */
export async function* allDocuments(
  engine: Reads,
  company: string,
  search: DocumentSearch,
): AsyncGenerator<FoundDocument[]> {
  const parts: Part[] = [];
  for await (const part of partsOf(engine, company, search)) parts.push(part);
  const groups = Map.groupBy(parts, (part) => keyOf(part));
  const lanes = await Promise.all(
    [...groups.values()].map(async (ofGroup) => {
      const rows = rowsIn(engine, company, ofGroup, search);
      return { rows, next: await rows.next() };
    }),
  );
  const placeOf = ({ next }: (typeof lanes)[number]) => next.value?.place ?? '';
  const newest = () => lanes.sort((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1))[0];
  let batch: FoundRow[] = [];
  for (let lane = newest(); lane?.next.value; lane = newest()) {
    batch.push(lane.next.value);
    lane.next = await lane.rows.next();
    if (batch.length < BATCH_DOCUMENTS) continue;
    yield await readDocuments(engine, company, batch);
    batch = [];
  }
  yield await readDocuments(engine, company, batch);
}

/** Reads the rows that a search finds in the parts of a group, newest first. */
async function* rowsIn(
  engine: Reads,
  company: string,
  parts: readonly Part[],
  search: DocumentSearch,
): AsyncGenerator<FoundRow, undefined> {
  for (const part of parts)
    for (let below: string | undefined = part.below; below !== undefined;) {
      const rows = await findRows(engine, company, { ...part, below }, search, BATCH_DOCUMENTS);
      yield* rows;
      below = rows.length === BATCH_DOCUMENTS ? rows.at(-1)?.place : undefined;
      await turn();
    }
  return undefined;
}

/** Reads documents by their places, in the given order. */
export async function readDocuments(
  engine: Reads,
  company: string,
  places: readonly { place: string }[],
): Promise<FoundDocument[]> {
  if (places.length === 0) return [];
  const ids = places.map(({ place }) => place.slice('YYYY-MM-DD'.length));
  const rows = await engine.db
    .selectFrom('invoices')
    .select(['id', 'body', 'detail'])
    .where('company', '=', company)
    .where('id', 'in', ids)
    .execute();
  // Both texts were rendered from one Invoice.
  const documents = new Map(rows.map((row) => [row.id, JSON.parse(joinRecordTexts(row)) as Invoice]));
  return places.flatMap(({ place }, index) => {
    const document = documents.get(ids[index] ?? '');
    return document === undefined ? [] : [{ document, place }];
  });
}

/** Lists a company's first customers, in the order of their names. */
export async function firstCustomers(
  engine: Reads,
  company: string,
  limit: number,
): Promise<{ id: string; name: string }[]> {
  return engine.db
    .selectFrom('customers')
    .select(['id', sql<string>`body ->> 'name'`.as('name')])
    .where('company', '=', company)
    .orderBy(engine.dialect.lowered("body ->> 'name'"))
    .orderBy('id')
    .limit(limit)
    .execute();
}

/**
 * Reads a part's newest documents after a place, and the sums of the other documents that the search finds in it: those
 * before that place, and those after the last one read.
 */
async function readPart(
  engine: Reads,
  company: string,
  part: Part,
  search: DocumentSearch,
  { after, limit }: { after: string; limit: number },
): Promise<{ found: FoundRow[]; others: Summed[] }> {
  const [, below = after] = [part.from, after, part.below].sort();
  const found = limit > 0 ? await findRows(engine, company, { ...part, below }, search, limit) : [];
  const end = found.length < limit ? part.from : (found.at(-1)?.place ?? below);
  const beside = [
    { ...part, from: below },
    { ...part, below: end },
  ].filter((other) => other.from < other.below);
  const others = await Promise.all(beside.map((other) => readTotals(engine, company, other, search)));
  return { found, others: others.flat() };
}

async function findRows(
  engine: Reads,
  company: string,
  part: Part,
  search: DocumentSearch,
  limit: number,
): Promise<FoundRow[]> {
  const { rows } = await sql<FoundRow>`
    SELECT place, 1 AS count, gross_minor AS ${sql.id('grossMinor')},
      CASE WHEN balance_minor > 0 THEN balance_minor ELSE 0 END AS ${sql.id('dueMinor')}
    FROM ${entries(engine, company, part, search)}
    ORDER BY place DESC
    LIMIT ${limit}`.execute(engine.db);
  return rows;
}

async function readTotals(
  engine: Reads,
  company: string,
  part: Part,
  search: DocumentSearch,
): Promise<Summed[]> {
  const { rows } = await sql<Summed>`
    SELECT COUNT(*) AS count, COALESCE(SUM(gross_minor), 0) AS ${sql.id('grossMinor')},
      COALESCE(SUM(balance_minor) FILTER (WHERE balance_minor > 0), 0) AS ${sql.id('dueMinor')}
    FROM ${entries(engine, company, part, search)}`.execute(engine.db);
  return rows;
}
