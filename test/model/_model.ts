/**
 * A naive model of the back office, written from openapi.yaml and feed.yaml: plain maps, one
 * company after the other, no database. It says what each change has to lead to.
 */
import { isDeepStrictEqual } from 'node:util';

import type { GivenAmounts } from '../../src/contract/document-amounts.ts';
import type { SubscribableKind } from '../../src/contract/events.ts';
import type { Change, ChangeName, NewInvoice, RefusalCode, ChangeContent } from '../../src/contract/feed.ts';
import { type RecordOf, type Resource, resources } from '../../src/contract/records.ts';
import type { CompanyProfile } from '../../src/server/store/tables/companies.ts';
import type { Worked } from './_credited.ts';
import type { ModelLine } from './_lines.ts';

/** Why a change can't be made. Where it has several faults, the answer may name any of them. */
export interface Fault {
  code: RefusalCode;
  /** Where the wrong value is; undefined when the value isn't in the change, so that its place is open. */
  path?: string;
}

export type Prediction =
  | { status: 'applied'; record: object | null }
  | { status: 'skipped' }
  | { status: 'refused'; faults: Fault[] };

export interface ModelEvent {
  kind: SubscribableKind;
  createdAt: string;
  data: unknown;
}

/** The terms that a document or quote was drafted with. An edit replaces members of them. */
export type Draft = Required<
  Omit<NewInvoice, 'id' | 'lines' | 'creditsInvoiceId' | 'terms' | keyof GivenAmounts>
> &
  GivenAmounts & { creditsInvoiceId: string | null; lines: ModelLine[] };
type NoTerms = 'id' | 'quoteGroupId' | 'lines' | keyof GivenAmounts;
export type QuoteTerms = Required<Omit<ChangeContent<'quote.draft'>, NoTerms>> &
  Pick<ChangeContent<'quote.draft'>, 'pricesIncludeVat' | 'allowances' | 'charges'> & { lines: ModelLine[] };

/** The data of a document that is kept beside its record. */
export interface Kept {
  draft: Draft;
  worked: Worked;
  /** The quote it was made from. */
  quoteId: string | null;
  /** Set at issue: the company's profile of that moment. */
  supplier: CompanyProfile | null;
  voided: { payments: readonly string[]; refunds: readonly string[] };
}

export type Tables = { [R in Resource]: Map<string, RecordOf[R]> };
export type Numbered = 'invoice' | 'credit_note' | 'pro_forma' | 'quote';

/** A company as its moves have left it. Records and what is kept beside them are replaced, and never changed. */
export interface ModelCompany {
  readonly id: string;
  readonly timeZone: string;
  readonly currency: string;
  readonly formats: Readonly<Record<Numbered, string>>;
  profile: CompanyProfile;
  lastStampMs: number;
  /** The changes that were made, by their ids. */
  applied: Map<string, Change>;
  tables: Tables;
  kept: Map<string, Kept>;
  quoteTerms: Map<string, QuoteTerms>;
  /** The last number of each series; a series is a format with its year filled in. */
  series: Map<string, number>;
  events: ModelEvent[];
}

export interface World {
  companies: Map<string, ModelCompany>;
  /** The service's clock. */
  nowMs: number;
}

/** One change of one company while it is worked out. */
export interface Turn {
  company: ModelCompany;
  nowMs: number;
  /** When it happened. */
  at: string;
  /** The company's calendar day of that time. */
  today: string;
  /** Whether a change without a time comes on an earlier day than the company's last, by a clock that was set back. */
  isClockBack: boolean;
  stamp: () => string;
  /** An event carries the time of the last stamp. */
  send: (kind: SubscribableKind, data: unknown) => void;
  fault: (code: RefusalCode, path?: string) => void;
  /** Notes a fault with which nothing further can be worked out. */
  refuse: (code: RefusalCode, path?: string) => never;
  /** The ids that the service gave to lines without one. */
  mintLineId: () => string;
}

/** The moves of the business; what a company is called and may use is no part of the model, nor what others issue. */
export type ModelledName = Exclude<
  ChangeName,
  `${'company' | 'logo' | 'numbering'}.${string}` | `${string}.import`
>;

export function isModelled(name: string): name is ModelledName {
  return !/^(?:company|logo|numbering)\.|\.import$/.test(name);
}

export type Moves = { [Name in ModelledName]: (turn: Turn, what: ChangeContent<Name>) => object | null };

/** Thrown when a change can't be worked out any further. */
const stopped = Symbol('stopped');

const AHEAD_MS_MAX = 5 * 60_000;

/** Whether a time of the business system is further ahead than clocks may be. */
export const isToCome = ({ nowMs }: { nowMs: number }, ms: number) => ms > nowMs + AHEAD_MS_MAX;

/**
 * Says what a change leads to, and makes it.
 * @param lineIds the ids that the service gave to lines of this change, in their order.
 */
export function predict(
  moves: Moves,
  world: World,
  change: Change,
  lineIds: readonly string[] = [],
): Prediction {
  const { nowMs } = world;
  const givenMs = change.at === undefined ? nowMs : Date.parse(change.at);
  const before = world.companies.get(change.company);
  const earlier = change.id === undefined ? undefined : before?.applied.get(change.id);
  if (isDeepStrictEqual(earlier, change)) return { status: 'skipped' };
  const faults: Fault[] = [];
  if (earlier !== undefined) faults.push({ code: 'duplicate_id', path: '/id' });
  if (isToCome(world, givenMs)) faults.push({ code: 'invalid_change', path: '/at' });
  if (!before) faults.push({ code: 'unknown_company', path: '/company' });
  if (!before || faults.length > 0) return { status: 'refused', faults };

  const company = copyOf(before);
  const turn = turnOf(company, { atMs: Math.min(givenMs, nowMs), nowMs }, faults, [...lineIds]);
  const lastDay = dayIn(company.timeZone, company.lastStampMs);
  turn.isClockBack =
    change.at === undefined && company.lastStampMs >= nowMs + 10 * 60_000 && lastDay > turn.today;
  const record = madeBy(moves, turn, change);
  if (faults.length > 0) return { status: 'refused', faults };
  noteApplied(company, change);
  world.companies.set(company.id, company);
  return { status: 'applied', record };
}

function noteApplied({ applied }: ModelCompany, change: Change): void {
  if (change.id !== undefined) applied.set(change.id, change);
}

function madeBy(moves: Moves, turn: Turn, change: Change): object | null {
  // The name picks the function whose parameter is this change's `with`.
  const make = moves[change.change as ModelledName] as (turn: Turn, what: Change['with']) => object | null;
  try {
    return make(turn, change.with);
  } catch (error) {
    if (error === stopped) return null;
    throw error;
  }
}

function turnOf(
  company: ModelCompany,
  { atMs, nowMs }: { atMs: number; nowMs: number },
  faults: Fault[],
  lineIds: string[],
): Turn {
  const fault: Turn['fault'] = (code, path) =>
    void faults.push(path === undefined ? { code } : { code, path });
  return {
    company,
    nowMs,
    at: iso(atMs),
    today: dayIn(company.timeZone, atMs),
    isClockBack: false,
    fault,
    stamp: () => {
      company.lastStampMs = Math.max(nowMs, company.lastStampMs + 1);
      return iso(company.lastStampMs);
    },
    send: (kind, data) =>
      void company.events.push({ kind, createdAt: iso(company.lastStampMs), data: structuredClone(data) }),
    refuse: (code, path) => {
      fault(code, path);
      // A mark of this module, and no failure of anything.
      // oxlint-disable-next-line typescript/only-throw-error
      throw stopped;
    },
    mintLineId: () => {
      const id = lineIds.shift();
      // A refused change has given no ids.
      return id ?? 'lin_none';
    },
  };
}

/** A copy in which the change is made: a change that is refused leaves nothing. */
function copyOf(company: ModelCompany): ModelCompany {
  return {
    ...company,
    applied: new Map(company.applied),
    tables: tablesLike(company.tables),
    kept: new Map(company.kept),
    quoteTerms: new Map(company.quoteTerms),
    series: new Map(company.series),
    events: [...company.events],
  };
}

/** Tables with the same records; empty ones unless some are given. */
function tablesLike(tables?: Tables): Tables {
  // A table holds the records of its resource.
  return Object.fromEntries(
    resources.map((name) => [name, new Map<unknown, unknown>(tables?.[name])]),
  ) as Tables;
}

export function openModelCompany(
  given: Pick<ModelCompany, 'id' | 'timeZone' | 'currency' | 'profile'> & {
    formats?: Partial<ModelCompany['formats']>;
    series?: Record<string, number>;
  },
): ModelCompany {
  return {
    ...given,
    formats: {
      invoice: 'INV-{year}-{number:4}',
      credit_note: 'CN-{year}-{number:4}',
      pro_forma: 'PF-{year}-{number:4}',
      quote: 'Q-{year}-{number:4}',
      ...given.formats,
    },
    lastStampMs: 0,
    applied: new Map(),
    tables: tablesLike(),
    kept: new Map(),
    quoteTerms: new Map(),
    series: new Map(Object.entries(given.series ?? {})),
    events: [],
  };
}

/** A record that has to be there; otherwise the change is refused. */
export function need<R extends Resource>(turn: Turn, resource: R, id: string, path: string): RecordOf[R] {
  // A table holds the records of its resource.
  const table = turn.company.tables[resource] as Map<string, RecordOf[R]>;
  return table.get(id) ?? turn.refuse('unknown_record', path);
}

export function nextNumber({ company, refuse, isClockBack }: Turn, kind: Numbered, day: string): string {
  if (isClockBack) refuse('wrong_state', '/with/id');
  const series = company.formats[kind].replaceAll('{year}', day.slice(0, 4));
  const number = (company.series.get(series) ?? 0) + 1;
  if (number > 999_999_999) refuse('limit_reached', '/with/id');
  company.series.set(series, number);
  return series.replace(/\{number(:\d)?\}/, (_all, width: string | undefined) =>
    String(number).padStart(Number(width?.slice(1) ?? 1), '0'),
  );
}

export function without<T extends object, Name extends keyof T>(value: T, ...names: Name[]): Omit<T, Name> {
  const left = Object.entries(value).filter(([name]) => !(names as PropertyKey[]).includes(name));
  return Object.fromEntries(left) as Omit<T, Name>;
}

export const iso = (ms: number) => new Date(ms).toISOString();

/** A day some days after another, both `YYYY-MM-DD`. */
export const addDays = (day: string, days: number) =>
  iso(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).slice(0, 10);

const dayFormats = new Map<string, Intl.DateTimeFormat>();

/** The calendar day on which a moment falls in a time zone. */
export function dayIn(timeZone: string, ms: number): string {
  // Swedish days are written as ISO 8601 has them.
  const format = dayFormats.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone });
  dayFormats.set(timeZone, format);
  return format.format(ms);
}
