import { setImmediate as turn } from 'node:timers/promises';

import { type RawBuilder, sql } from 'kysely';

import { minorDigits } from '../../../contract/currencies.ts';
import type { Invoice } from '../../../contract/records.ts';
import { daysAfter } from '../../backoffice/times.ts';
import type { Dialect } from '../../store/dialects/dialect.ts';
import type { Reads } from '../../store/engines/engine.ts';
import { BEFORE_CUSTOMER, searchWordsOf } from '../../store/search-columns.ts';

/** A search of a company's documents; an undefined or empty member doesn't restrict it. */
export interface DocumentSearch {
  /**
   * Words, or beginnings of words, in the number, the references or the customer's name; all of them have to match. A word
   * that spells an amount also matches what was asked for, is left to pay or was paid.
   */
  text: string;
  /** Whether the customer's name is searched too. */
  findsCustomers: boolean;
  kind?: Invoice['kind'] | undefined;
  state?: DocumentState | undefined;
  customer?: string | undefined;
  currency?: string | undefined;
  /** The first and the last day of issue. */
  from?: string | undefined;
  to?: string | undefined;
  /** The company's current day, which decides whether an invoice is overdue. */
  today: string;
}

/** A state to search for. An invoice may be in several: an overdue invoice is open too. */
export type DocumentState =
  'draft' | 'open' | 'overdue' | 'part_paid' | 'paid' | 'credited' | 'in_credit' | OpenAge;

/** The ages of open invoices, by the days since they were due. */
export type OpenAge = 'not_due' | 'overdue_1_30' | 'overdue_31_60' | 'overdue_61_90' | 'overdue_over_90';

/** The index columns whose values the documents of a group share. */
export type Group = Pick<Invoice, 'currency' | 'kind' | 'status'>;

/** A range of a group's documents that are adjacent in the index, bounded by their places. */
export interface Part extends Group {
  from: string;
  /** The upper bound of the places, exclusive. */
  below: string;
}

/** A suffix that sorts after every place with the same beginning: days and ids don't contain this character. */
export const AFTER_ALL = '~';

/**
 * Yields the parts of the index that a search scans, each group's newest first. SQLite scans in this process, where other
 * work must get its turn, so it scans one year at a time.
 */
export async function* partsOf(engine: Reads, company: string, search: DocumentSearch): AsyncGenerator<Part> {
  const { from = '', to = '' } = search;
  for (let last = await entryBefore(engine, company, undefined); last !== undefined;) {
    const { place, ...group } = last;
    const isSought = mayHold(group, search);
    const begin = isSought && place >= from && engine.dialect.slice ? place.slice(0, 'YYYY'.length) : '';
    const [below = ''] = [`${to}${AFTER_ALL}`, `${place}${AFTER_ALL}`].sort();
    const part = { ...group, from: from > begin ? from : begin, below };
    if (isSought && part.from < part.below) yield part;
    last = await entryBefore(engine, company, { ...group, place: begin });
    await turn();
  }
}

/** Finds a company's last entry in the index, or its last one before a given place. */
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
 * Whether a search can find documents in a group. Only issued invoices can be paid, and only issued documents have a day of
 * issue.
 */
function mayHold(group: Group, { kind, state, currency, from, to }: DocumentSearch): boolean {
  const isPaidFor = state !== undefined && state !== 'draft';
  const isIssued = isPaidFor || (from ?? to) !== undefined;
  return (
    [group.kind, undefined].includes(kind) &&
    [group.currency, undefined].includes(currency) &&
    (state !== 'draft' || group.status === 'draft') &&
    (!isIssued || group.status === 'issued') &&
    (!isPaidFor || group.kind === 'invoice')
  );
}

/** Selects open invoices that were due more than `over` days ago, and at most `upTo`. */
const overdueBy = (over: number, upTo?: number) => (today: string) =>
  sql`balance_minor > 0 AND due_date < ${daysAfter(today, -over)}${
    upTo === undefined ? sql`` : sql` AND due_date >= ${daysAfter(today, -upTo)}`
  }`;

const stateConditions: Record<Exclude<DocumentState, 'draft'>, (today: string) => RawBuilder<unknown>> = {
  open: () => sql`balance_minor > 0`,
  overdue: overdueBy(0),
  part_paid: () => sql`balance_minor > 0 AND paid_minor > 0`,
  // An invoice of zero counts as paid.
  paid: () => sql`balance_minor = 0 AND (paid_minor > 0 OR gross_minor = 0)`,
  credited: () => sql`balance_minor = 0 AND paid_minor = 0 AND gross_minor > 0`,
  in_credit: () => sql`balance_minor < 0`,
  not_due: (today) => sql`balance_minor > 0 AND COALESCE(due_date, ${today}) >= ${today}`,
  overdue_1_30: overdueBy(0, 30),
  overdue_31_60: overdueBy(30, 60),
  overdue_61_90: overdueBy(60, 90),
  overdue_over_90: overdueBy(90),
};

/** Builds the table and the condition that select the entries of a part that match a search. */
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
    ...wordConditions(dialect, search, currency),
  ].filter((condition) => condition !== false);
  return sql`invoices ${dialect.indexedBy('invoices_searched')} WHERE ${sql.join(conditions, sql` AND `)}`;
}

/**
 * Builds the conditions for the words searched. Text without a space, such as a number with hyphens, is looked for as one.
 * LIKE would take up to half as long again.
 */
function wordConditions(
  { position }: Dialect,
  { text, findsCustomers }: DocumentSearch,
  currency: string,
): RawBuilder<unknown>[] {
  const [mark] = text.match(CURRENCY) ?? [];
  const code = mark?.trim().toUpperCase() ?? currency;
  const isOther = ![code, MARKS[code]].includes(currency);
  const given = text.replaceAll(CURRENCY, '').replaceAll(BLANK, '').split(/\s+/);
  const words = new Map(
    given.map((word) => [searchWordsOf(word), isOther ? undefined : spelledMinor(word, currency)]),
  );
  words.delete('');
  // Punctuation alone is no word, and matches nothing.
  if (words.size === 0) return text === '' ? [] : [sql`FALSE`];
  const at = (sought: string) => position('search_words', sought);
  return [...words].map(([word, minor]) => {
    const isIn = findsCustomers
      ? sql`${at(` ${word}`)} > 0`
      : sql`${at(` ${word}`)} BETWEEN 1 AND ${at(BEFORE_CUSTOMER)}`;
    if (minor === undefined) return isIn;
    return sql`(gross_minor = ${minor} OR paid_minor = ${minor} OR balance_minor IN (${minor}, ${-minor}) OR ${isIn})`;
  });
}

/** Matches a currency before or after a number, as it stands on bank statements. */
const CURRENCY = /(?:[€£$]|\b(?:EUR|GBP))\s*(?=[-−+]?\d)|(?<=\d)\s*(?:[€£$]|(?:EUR|GBP)\b)(?!\d)/gi;

const MARKS: Record<string, string> = { '€': 'EUR', '£': 'GBP', $: 'USD' };

/** Matches a blank before three digits of an amount. */
const BLANK = /(?<=(?<!\d)\d{1,3})\s(?=\d{3}[.,]\d{2}(?!\d))/g;

/** Matches whole units: without marks, or with one mark before every three digits. */
const WHOLE = /^(?:\d+|\d{1,3}(?:,\d{3})+|\d{1,3}(?:\.\d{3})+)$/;

/** Returns the amount, in minor units, that a word spells: 39496 in EUR for `394.96` and `394,96`. The sign is left out. */
function spelledMinor(word: string, currency: string): number | undefined {
  const digits = minorDigits(currency);
  const parts = new RegExp(`^[[("'−+-]*(\\d[\\d.,]*?)(?:[.,](\\d{0,${digits}}))?[\\])"',;.]*$`, 'u').exec(
    word,
  );
  const [, whole = '', fraction = ''] = parts ?? [];
  const minor = Number(`${whole.replaceAll(/[.,]/g, '')}${fraction.padEnd(digits, '0')}`);
  return WHOLE.test(whole) && minor > 0 && Number.isSafeInteger(minor) ? minor : undefined;
}
