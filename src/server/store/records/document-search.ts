import { type SelectQueryBuilder, sql } from 'kysely';

import type { InvoiceSummary } from '../../../contract/records.ts';
import type { Engine } from '../engines/engine.ts';
import type { Tables } from '../schema.ts';

/** A document as a search finds it. */
export interface FoundDocument {
  summary: InvoiceSummary;
  /** The amount left to pay of an issued invoice; undefined for every other document. */
  amountDueMinor: number | undefined;
  /** Where a page that begins after it goes on. */
  place: Place;
}

/** A place in a list that goes from the newest to the oldest: what it is ordered by, and the document's id. */
export interface Place {
  at: string;
  id: string;
}

export interface PageAfter {
  after: Place | undefined;
  limit: number;
}

/** Later than every text that begins with what stands before it. */
const LAST = '\u{10FFFF}';
const kinds = ['invoice', 'credit_note', 'pro_forma'] as const;

/** Issued documents whose number begins with a text, the highest number first. Capitals don't matter. */
export async function findByNumber(
  engine: Engine,
  company: string,
  beginning: string,
  { after, limit }: PageAfter,
): Promise<FoundDocument[]> {
  const number = engine.dialect.lowered("body ->> 'number'");
  const first = lowered(beginning);
  let query = documents(engine, company)
    .select(number.as('at'))
    .where('status', '=', sql.lit('issued'))
    .where(number, '>=', first)
    // One bound only: of two, SQLite scans the index from the one that it met first.
    .where(number, '<=', after?.at ?? first + LAST)
    .orderBy(number, 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  if (after) {
    const { at, id } = after;
    query = query.where((where) => where.or([where(number, '<', at), where('id', '<', id)]));
  }
  return (await query.execute()).map(toFound);
}

/** Issued documents of some days, both included and each left open if it is undefined; the latest first. */
export async function findByDays(
  engine: Engine,
  company: string,
  { from, to, after, limit }: PageAfter & { from: string | undefined; to: string | undefined },
): Promise<FoundDocument[]> {
  let query = documents(engine, company)
    .select(sql<string>`issue_date`.as('at'))
    .where('issue_date', '>=', from ?? '')
    .orderBy('issue_date', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  // A day may have any number of documents, so that the index has to be entered at the very one.
  if (after) query = query.where(sql<boolean>`(issue_date, id) < (${after.at}, ${after.id})`);
  else if (to !== undefined) query = query.where('issue_date', '<=', to);
  return (await query.execute()).map(toFound);
}

/** Drafts, or all documents of a customer, the newest first: each kind and status is an index of its own. */
export async function findNewest(
  engine: Engine,
  company: string,
  { customer, after, limit }: PageAfter & { customer: string | undefined },
): Promise<FoundDocument[]> {
  const statuses = customer === undefined ? (['draft'] as const) : (['draft', 'issued'] as const);
  const pages = await Promise.all(
    statuses.flatMap((status) =>
      kinds.map((kind) => {
        let query = documents(engine, company)
          .select(sql<string>`''`.as('at'))
          .where('status', '=', status)
          .where('kind', '=', kind)
          .orderBy('id', 'desc')
          .limit(limit);
        if (customer !== undefined) query = query.where('customer', '=', customer);
        if (after) query = query.where('id', '<', after.id);
        return query.execute();
      }),
    ),
  );
  return pages
    .flat()
    .map(toFound)
    .sort((a, b) => (a.place.id < b.place.id ? 1 : -1))
    .slice(0, limit);
}

/** A customer as a search finds it. */
export interface FoundCustomer {
  id: string;
  name: string;
}

/**
 * Customers whose name begins with a text, in the order of the alphabet. Letters beyond the basic alphabet are looked
 * for as they were typed, as capitals, and with capitals where words begin.
 */
export async function findCustomersByName(
  engine: Engine,
  company: string,
  beginning: string,
  limit: number,
): Promise<FoundCustomer[]> {
  const name = engine.dialect.lowered("body ->> 'name'");
  const small = beginning.toLocaleLowerCase('en');
  const titled = small.replace(/(?<![\p{L}\p{M}])\p{L}/gu, (letter) => letter.toLocaleUpperCase('en'));
  const typed = new Set([beginning, small, titled, beginning.toLocaleUpperCase('en')].map(lowered));
  const found = await Promise.all(
    [...typed].map((first) =>
      engine.db
        .selectFrom('customers')
        .select(['id', sql<string>`body ->> 'name'`.as('name')])
        .where('company', '=', company)
        .where(name, '>=', first)
        .where(name, '<', first + LAST)
        .orderBy(name)
        .orderBy('id')
        .limit(limit)
        .execute(),
    ),
  );
  const customers = new Map(found.flat().map(({ id, name: shown }) => [id, { id, name: shown }]));
  return [...customers.values()].sort((a, b) => a.name.localeCompare(b.name, 'en')).slice(0, limit);
}

/** As the databases change letters: those of the basic alphabet alone. */
function lowered(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function documents(
  engine: Engine,
  company: string,
): SelectQueryBuilder<Tables, 'invoices', { id: string; body: string; due: string | number | null }> {
  return engine.db
    .selectFrom('invoices')
    .select(['id', 'body', sql<string | number | null>`detail ->> 'amountDueMinor'`.as('due')])
    .where('company', '=', company);
}

function toFound(row: { id: string; body: string; due: string | number | null; at: string }): FoundDocument {
  return {
    // The stored text was rendered from a record of this type.
    summary: JSON.parse(row.body) as InvoiceSummary,
    amountDueMinor: row.due === null ? undefined : Number(row.due),
    place: { at: row.at, id: row.id },
  };
}
