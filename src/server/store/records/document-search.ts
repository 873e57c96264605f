import { setImmediate as turn } from 'node:timers/promises';

import { type RawBuilder, sql } from 'kysely';

import type { Invoice } from '../../../contract/records.ts';
import { wholeText } from '../../../contract/render.ts';
import type { Engine } from '../engines/engine.ts';
import { BEFORE_CUSTOMER, wordsOf } from '../search-columns.ts';

/** A search of a company's documents; what is undefined or empty leaves them out of account. */
export interface DocumentSearch {
  /** Words, or beginnings of words, of number, references and customer's name; all of them have to match. */
  text: string;
  /** Whether the customer's name is searched too. */
  findsCustomers: boolean;
  kind?: Invoice['kind'] | undefined;
  state?: DocumentState | undefined;
  customer?: string | undefined;
  /** The first and the last day of issue. */
  from?: string | undefined;
  to?: string | undefined;
  /** The company's day, on which an invoice is overdue or not yet. */
  today: string;
}

/** An invoice may be in several states: one that is overdue is open too. */
export type DocumentState = 'draft' | 'open' | 'overdue' | 'part_paid' | 'paid' | 'credited' | 'in_credit';

/** A document with its place in the order of documents: its day, and its id. The newest comes first. */
export interface FoundDocument {
  document: Invoice;
  place: string;
}

/** The sums of the documents of a search that have a currency, a kind and a status in common, in minor units. */
export interface DocumentTotal extends Pick<Invoice, 'currency' | 'kind' | 'status'> {
  count: number;
  grossMinor: number;
  dueMinor: number;
}

/** The open invoices of a customer in a currency. */
export interface Receivable {
  currency: string;
  customer: string;
  /** Of one of the invoices. */
  place: string;
  count: number;
  /** The amounts due in minor units, by age: first what is not older than the last of the days, and at the end what is oldest. */
  dueMinor: number[];
}

/** Some of the documents, by their places. */
interface Span {
  from: string;
  /** Excluded. */
  below: string;
}

/** PostgreSQL's driver gives large numbers as texts. */
type Summed = Pick<Invoice, 'currency' | 'kind' | 'status'> &
  Record<'count' | 'grossMinor' | 'dueMinor', number | string>;
type FoundRow = Summed & { place: string };

/** Comes after every place that begins with what stands before it: days and ids have no such character. */
const AFTER_ALL = '~';
/** Documents of some kilobytes. */
const BATCH_DOCUMENTS = 200;

/**
 * Reads the newest documents of a search that come after a place, and the totals of the whole search. It scans the company's
 * part of one index, which holds all that a search asks for: a second time for the totals only if more than a batch is found.
 * @param part.after the place of the last document of the page before; undefined for the first page.
 */
export async function searchDocuments(
  engine: Engine,
  company: string,
  search: DocumentSearch,
  { after = AFTER_ALL, limit }: { after: string | undefined; limit: number },
): Promise<{ found: FoundDocument[]; totals: DocumentTotal[] }> {
  const rows: FoundRow[] = [];
  const totals = new Map<string, DocumentTotal>();
  for await (const { from, below } of spansOf(engine, company, daysOf(search))) {
    const left = BATCH_DOCUMENTS - rows.length;
    const part = { from, below: after < below ? after : below };
    const found =
      left > 0 && part.below > from
        ? await findRows(engine, searched(engine, company, part, search), left)
        : [];
    rows.push(...found);
    const isWhole = part.below === below && found.length < left;
    for (const row of isWhole
      ? found
      : await readTotals(engine, searched(engine, company, { from, below }, search))) {
      const { currency, kind, status } = row;
      const key = `${currency} ${status} ${kind}`;
      const total = totals.get(key) ?? { currency, kind, status, count: 0, grossMinor: 0, dueMinor: 0 };
      for (const name of ['count', 'grossMinor', 'dueMinor'] as const) total[name] += Number(row[name]);
      totals.set(key, total);
    }
  }
  const found = await readDocuments(engine, company, rows.slice(0, limit));
  const inOrder = [...totals].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, total]) => total);
  return { found, totals: inOrder };
}

/** Reads all documents of a search in batches, the newest first. */
export async function* allDocuments(
  engine: Engine,
  company: string,
  search: DocumentSearch,
): AsyncGenerator<FoundDocument[]> {
  for await (const { from, below } of spansOf(engine, company, daysOf(search))) {
    for (let next: string | undefined = below; next !== undefined;) {
      const rows = await findRows(
        engine,
        searched(engine, company, { from, below: next }, search),
        BATCH_DOCUMENTS,
      );
      if (rows.length > 0) yield await readDocuments(engine, company, rows);
      next = rows.length === BATCH_DOCUMENTS ? rows.at(-1)?.place : undefined;
      await turn();
    }
  }
}

/**
 * Reads what each customer owes, by how long ago it was due. It scans as `searchDocuments` does.
 * @param days the oldest first; what was due before one of them is older than it.
 */
export async function readReceivables(
  engine: Engine,
  company: string,
  days: readonly string[],
): Promise<Receivable[]> {
  const receivables = new Map<string, Receivable>();
  const ages = days.map((day, index) => sql`WHEN due_date < ${day} THEN ${sql.lit(days.length - index)}`);
  for await (const span of spansOf(engine, company, { from: '', below: AFTER_ALL })) {
    const { rows } = await sql<
      Omit<Receivable, 'count' | 'dueMinor'> &
        Record<'age', number> &
        Record<'count' | 'due', number | string>
    >`
      SELECT currency, customer, CASE ${sql.join(ages, sql` `)} ELSE 0 END AS age,
        MAX(place) AS place, COUNT(*) AS count, SUM(balance_minor) AS due
      FROM ${searched(engine, company, span)} AND balance_minor > 0
      GROUP BY currency, customer, age`.execute(engine.db);
    for (const { currency, customer, place, count, age, due } of rows) {
      const key = `${currency} ${customer}`;
      const none = { currency, customer, place, count: 0, dueMinor: [0, ...days.map(() => 0)] };
      const receivable = receivables.get(key) ?? none;
      receivable.count += Number(count);
      receivable.dueMinor[age] = (receivable.dueMinor[age] ?? 0) + Number(due);
      receivables.set(key, receivable);
    }
  }
  return [...receivables.values()];
}

/** Reads documents by their places, in the same order. */
export async function readDocuments(
  engine: Engine,
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
  const documents = new Map(rows.map((row) => [row.id, JSON.parse(wholeText(row)) as Invoice]));
  return places.flatMap(({ place }, index) => {
    const document = documents.get(ids[index] ?? '');
    return document === undefined ? [] : [{ document, place }];
  });
}

/** The first customers of a company in the order of their names. */
export async function firstCustomers(
  engine: Engine,
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

function daysOf({ from = '', to = '' }: DocumentSearch): Span {
  return { from, below: `${to}${AFTER_ALL}` };
}

/** A span in the parts that are scanned at a time, the newest first. SQLite scans in this process, where others have to have their turn. */
async function* spansOf(engine: Engine, company: string, { from, below }: Span): AsyncGenerator<Span> {
  const { slice } = engine.dialect;
  let next = below;
  while (slice !== undefined) {
    const { rows } = await sql<{ place: string }>`
      SELECT place FROM ${searched(engine, company, { from, below: next })}
      ORDER BY place DESC
      LIMIT 1 OFFSET ${sql.lit(slice - 1)}`.execute(engine.db);
    const [last] = rows;
    if (last === undefined) break;
    yield { from: last.place, below: next };
    next = last.place;
    await turn();
  }
  yield { from, below: next };
}

/**
 * The part of the index that a search reads. It has one bound at each side: of two, SQLite would enter the index at the one
 * that it met first.
 */
function searched(
  { dialect }: Engine,
  company: string,
  { from, below }: Span,
  search?: DocumentSearch,
): RawBuilder<unknown> {
  const matches = [
    sql`company = ${company} AND place >= ${from} AND place < ${below}`,
    ...conditionsOf(search),
  ];
  return sql`invoices ${dialect.indexedBy('invoices_searched')} WHERE ${sql.join(matches, sql` AND `)}`;
}

async function findRows({ db }: Engine, from: RawBuilder<unknown>, limit: number): Promise<FoundRow[]> {
  const { rows } = await sql<FoundRow>`
    SELECT place, currency, kind, status, 1 AS count, gross_minor AS ${sql.id('grossMinor')},
      CASE WHEN balance_minor > 0 THEN balance_minor ELSE 0 END AS ${sql.id('dueMinor')}
    FROM ${from}
    ORDER BY place DESC
    LIMIT ${limit}`.execute(db);
  return rows;
}

async function readTotals({ db }: Engine, from: RawBuilder<unknown>): Promise<Summed[]> {
  const { rows } = await sql<Summed>`
    SELECT currency, kind, status, COUNT(*) AS count, SUM(gross_minor) AS ${sql.id('grossMinor')},
      COALESCE(SUM(balance_minor) FILTER (WHERE balance_minor > 0), 0) AS ${sql.id('dueMinor')}
    FROM ${from}
    GROUP BY currency, kind, status`.execute(db);
  return rows;
}

const stateConditions: Record<DocumentState, (today: string) => RawBuilder<unknown>> = {
  draft: () => sql`status = 'draft'`,
  open: () => sql`balance_minor > 0`,
  overdue: (today) => sql`balance_minor > 0 AND due_date < ${today}`,
  part_paid: () => sql`balance_minor > 0 AND paid_minor > 0`,
  // Of nothing, nothing is left to pay.
  paid: () => sql`balance_minor = 0 AND (paid_minor > 0 OR gross_minor = 0)`,
  credited: () => sql`balance_minor = 0 AND paid_minor = 0 AND gross_minor > 0`,
  in_credit: () => sql`balance_minor < 0`,
};

function conditionsOf(search: DocumentSearch | undefined): RawBuilder<unknown>[] {
  if (search === undefined) return [];
  const { kind, state, customer, from, to, today } = search;
  return [
    // Only an issued document has a day of issue.
    (from ?? to) !== undefined && sql`status = 'issued'`,
    kind !== undefined && sql`kind = ${kind}`,
    state !== undefined && stateConditions[state](today),
    customer !== undefined && sql`customer = ${customer}`,
    ...wordConditions(search),
  ].filter((condition) => condition !== false);
}

/** A part that is typed without a blank, such as a number with its hyphens, is looked for as one. */
function wordConditions({ text, findsCustomers }: DocumentSearch): RawBuilder<unknown>[] {
  const words = new Set(text.split(/\s+/).map(wordsOf));
  words.delete('');
  // Signs alone are no word, and found nowhere.
  if (words.size === 0) return text === '' ? [] : [sql`FALSE`];
  const end = findsCustomers ? '%' : `%${BEFORE_CUSTOMER}%`;
  return [...words].map((word) => sql`search_words LIKE ${`% ${word}${end}`}`);
}
