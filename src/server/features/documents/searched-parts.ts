import { setImmediate as turn } from 'node:timers/promises';

import { type RawBuilder, sql } from 'kysely';

import type { Invoice } from '../../../contract/records.ts';
import type { Dialect } from '../../store/dialects/dialect.ts';
import type { Reads } from '../../store/engines/engine.ts';
import { BEFORE_CUSTOMER, searchWordsOf } from '../../store/search-columns.ts';

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

/** The columns that documents side by side in the index have in common. */
export type Group = Pick<Invoice, 'currency' | 'kind' | 'status'>;

/** Documents of a group that stand beside each other in the index, by their places. */
export interface Part extends Group {
  from: string;
  /** Excluded. */
  below: string;
}

/** Comes after every place that begins with what stands before it: days and ids have no such character. */
export const AFTER_ALL = '~';

/**
 * The parts of the index that a search scans, each group's newest first. SQLite scans in this process, where others have to
 * have their turn, so it gets a year at a time.
 */
export async function* partsOf(engine: Reads, company: string, search: DocumentSearch): AsyncGenerator<Part> {
  const { from = '', to = '' } = search;
  for (let last = await entryBefore(engine, company, undefined); last !== undefined;) {
    const { place, ...group } = last;
    const isSought = mayHold(group, search);
    const begin = isSought && engine.dialect.slice ? place.slice(0, 'YYYY'.length) : '';
    const [below = ''] = [`${to}${AFTER_ALL}`, `${place}${AFTER_ALL}`].sort();
    const part = { ...group, from: from > begin ? from : begin, below };
    if (isSought && part.from < part.below) yield part;
    last = await entryBefore(engine, company, { ...group, place: begin });
    await turn();
  }
}

/** The last entry of a company in the index, or the last before another place of it. */
async function entryBefore(
  { db, dialect }: Reads,
  company: string,
  next: (Group & { place: string }) | undefined,
): Promise<(Group & { place: string }) | undefined> {
  const before =
    next &&
    sql`AND (status, kind, currency, place) < (${next.status}, ${next.kind}, ${next.currency}, ${next.place})`;
  const { rows } = await sql<Group & { place: string }>`
    SELECT status, kind, currency, place FROM invoices ${dialect.indexedBy('invoices_searched')}
    WHERE company = ${company} ${before ?? sql``}
    ORDER BY status DESC, kind DESC, currency DESC, place DESC LIMIT 1`.execute(db);
  return rows[0];
}

export function keyOf({ currency, status, kind }: Group): string {
  return `${currency} ${status} ${kind}`;
}

/**
 * Whether a search can find something in a group. Only an issued invoice is to be paid, and only an issued document has a day
 * of issue.
 */
function mayHold(group: Group, { kind, state, from, to }: DocumentSearch): boolean {
  const isPaidFor = state !== undefined && state !== 'draft';
  const isIssued = isPaidFor || (from ?? to) !== undefined;
  return (
    (kind === undefined || group.kind === kind) &&
    (state !== 'draft' || group.status === 'draft') &&
    (!isIssued || group.status === 'issued') &&
    (!isPaidFor || group.kind === 'invoice')
  );
}

const stateConditions: Record<Exclude<DocumentState, 'draft'>, (today: string) => RawBuilder<unknown>> = {
  open: () => sql`balance_minor > 0`,
  overdue: (today) => sql`balance_minor > 0 AND due_date < ${today}`,
  part_paid: () => sql`balance_minor > 0 AND paid_minor > 0`,
  // Of nothing, nothing is left to pay.
  paid: () => sql`balance_minor = 0 AND (paid_minor > 0 OR gross_minor = 0)`,
  credited: () => sql`balance_minor = 0 AND paid_minor = 0 AND gross_minor > 0`,
  in_credit: () => sql`balance_minor < 0`,
};

/** The entries of a part that a search finds. */
export function entries(
  { dialect }: Reads,
  company: string,
  part: Part,
  search: DocumentSearch,
): RawBuilder<unknown> {
  const { status, kind, currency, from, below } = part;
  const { state, customer, today } = search;
  const conditions = [
    sql`company = ${company} AND status = ${status} AND kind = ${kind} AND currency = ${currency}`,
    sql`place >= ${from} AND place < ${below}`,
    state !== undefined && state !== 'draft' && stateConditions[state](today),
    customer !== undefined && sql`customer = ${customer}`,
    ...wordConditions(dialect, search),
  ].filter((condition) => condition !== false);
  return sql`invoices ${dialect.indexedBy('invoices_searched')} WHERE ${sql.join(conditions, sql` AND `)}`;
}

/**
 * A part that is typed without a blank, such as a number with its hyphens, is looked for as one. LIKE would take up to half as
 * long again.
 */
function wordConditions(
  { position }: Dialect,
  { text, findsCustomers }: DocumentSearch,
): RawBuilder<unknown>[] {
  const words = new Set(text.split(/\s+/).map(searchWordsOf));
  words.delete('');
  // Signs alone are no word, and found nowhere.
  if (words.size === 0) return text === '' ? [] : [sql`FALSE`];
  const at = (sought: string) => position('search_words', sought);
  return [...words].map((word) =>
    findsCustomers ? sql`${at(` ${word}`)} > 0` : sql`${at(` ${word}`)} BETWEEN 1 AND ${at(BEFORE_CUSTOMER)}`,
  );
}
