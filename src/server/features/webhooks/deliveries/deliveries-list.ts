import { type RawBuilder, sql } from 'kysely';

import type { EventKind } from '../../../../contract/events.ts';
import { countRows } from '../../../store/batches.ts';
import { type Connection, dialectOf, withoutIndex } from '../../../store/dialects/dialect.ts';
import { boundTo } from '../../../store/machines.ts';
import { type DeliveryRecord, type DeliveryRow, withAttempts } from './delivery-details.ts';
import { RECORD_ID } from '../../../store/tables/webhooks.ts';
import type { WebhookRef } from './delivery-keys.ts';

/** A group of delivery states that the history can be filtered by. */
export type StateGroup = 'waiting' | 'retrying' | 'delivered' | 'unsent';

export interface DeliveryFilter {
  kinds?: readonly EventKind[] | undefined;
  /** The id of the record that the events are about. */
  record?: string | undefined;
  state?: StateGroup | undefined;
  /** The period in which the event happened; `until` is excluded. */
  from?: Date | undefined;
  until?: Date | undefined;
}

/** A choice of failed or withheld deliveries, by period or by ids. */
export type UnsentChoice = { from: Date; until?: Date | undefined } | { ids: readonly string[] };

export interface ListedPage {
  deliveries: DeliveryRecord[];
  /** The id of a delivery or an event, before which the next page continues; undefined on the last page. */
  before: string | undefined;
  /** Whether the search stopped at its limit, so that there may be more matches. */
  isCutShort: boolean;
}

/** Maximum number of deliveries that one page scans, which takes a few milliseconds. */
export const LOOKED_AT_MAX = 5_000;
/** Number of events that are joined with the deliveries of one webhook in one step. */
const EVENTS_AT_ONCE = 200;

/** The webhook whose deliveries are listed. No event is older than the webhook. */
export interface ListedWebhook extends WebhookRef {
  createdAt: string;
  pausedAt: string | null;
}

/** The start and size of a page. It starts before the id at which the previous page ended, or at the newest delivery. */
export interface PageOptions {
  before?: string | undefined;
  countMax: number;
  lookedAtMax?: number;
}

/**
 * Lists a webhook's deliveries that match a filter, newest first.
 *
 * Ids begin with their time, so a period is a range of ids. A page reads the most selective index: the state's, a single
 * event kind's, or that of all deliveries. It stops after a few thousand rows.
 */
export async function listDeliveryRows(
  db: Connection,
  of: ListedWebhook,
  filter: DeliveryFilter,
  page: PageOptions,
): Promise<ListedPage> {
  const { rows, ...end } = isOfFewEvents(filter)
    ? await scanEvents(db, of, filter, page)
    : await scanDeliveries(db, of, filter, page);
  return { deliveries: await withAttempts(db, of, rows), ...end };
}

/** Whether a search reads events, and the deliveries of each, because few events can match. */
export function isOfFewEvents({ kinds, record, state }: DeliveryFilter): boolean {
  return record !== undefined || (kinds?.length === 1 && !isRare(state));
}

export type ScannedRow = DeliveryRow & { webhook: string };

export interface Scanned extends Omit<ListedPage, 'deliveries'> {
  rows: ScannedRow[];
}

/** SQL conditions by group; two must equal those of the partial indexes `deliveries_retrying` and `deliveries_unsent`. */
const states: Record<StateGroup, RawBuilder<boolean>> = {
  waiting: sql`d.state IN ('waiting', 'sending')`,
  retrying: sql`d.state = 'retrying'`,
  delivered: sql`d.state = 'delivered'`,
  unsent: sql`d.state IN ('failed', 'withheld')`,
};

const isRare = (state: StateGroup | undefined) => state === 'retrying' || state === 'unsent';

function inState(state: StateGroup | undefined): RawBuilder<boolean> {
  return state ? states[state] : sql`TRUE`;
}

/** Scans all deliveries, or those in a rare state, and joins the event of each. */
export async function scanDeliveries(
  db: Connection,
  of: WebhookRef,
  filter: DeliveryFilter,
  page: PageOptions,
): Promise<Scanned> {
  const { kinds, state } = filter;
  const scan = deliveriesIn(db, of, filter, page);
  const mayRefuse = kinds !== undefined || (state !== undefined && !isRare(state));
  const end = mayRefuse ? await searchEnd(db, scan, page) : undefined;
  const { rows } = await sql<ScannedRow>`
    SELECT d.webhook, d.id, e.kind, e.created_at, e.is_test, d.state, d.withheld_for, d.due_at, d.attempt_count
    FROM ${scan.table} CROSS JOIN events AS e
    WHERE ${scan.condition} AND e.company = ${of.company} AND e.id = d.event AND ${end === undefined ? sql`TRUE` : sql`d.id >= ${end}`}
      AND ${kinds ? sql`e.kind IN (${sql.join(kinds)})` : sql`TRUE`} AND ${inState(state)}
    ORDER BY d.id DESC LIMIT ${sql.lit(page.countMax + 1)}`.execute(db);
  const shown = rows.slice(0, page.countMax);
  const isMore = rows.length > page.countMax;
  return { rows: shown, before: isMore ? shown.at(-1)?.id : end, isCutShort: !isMore && end !== undefined };
}

/** Counts the chosen deliveries with fewer than `attemptsMax` attempts, up to `countMax`. */
export async function countUnsent(
  db: Connection,
  of: WebhookRef,
  choice: UnsentChoice,
  { attemptsMax = Infinity, countMax }: { attemptsMax?: number; countMax: number },
): Promise<number> {
  const { table, condition } = unsentIn(db, of, choice);
  const isBelow = attemptsMax === Infinity ? sql`TRUE` : sql`d.attempt_count < ${attemptsMax}`;
  const some = sql`(SELECT 1 FROM ${table} WHERE ${condition} AND ${isBelow} LIMIT ${sql.lit(countMax)}) AS counted`;
  return countRows(db, some);
}

/** Builds the SQL table, with the alias `d`, and the SQL condition that select the chosen deliveries. */
export function unsentIn(db: Connection, of: WebhookRef, choice: UnsentChoice): DeliveryScan {
  if (!('ids' in choice)) return deliveriesIn(db, of, { ...choice, state: 'unsent' }, {});
  const { table, condition } = deliveriesIn(db, of, { state: 'unsent' }, {});
  return { table, condition: sql`${condition} AND d.id IN (${sql.join(choice.ids)})` };
}

interface DeliveryScan {
  table: RawBuilder<unknown>;
  condition: RawBuilder<unknown>;
}

/** Builds the SQL table, with the alias `d`, and the SQL condition for a scan of deliveries. */
function deliveriesIn(
  db: Connection,
  { company, webhook }: WebhookRef,
  { state, from, until }: DeliveryFilter,
  { before }: Pick<PageOptions, 'before'>,
): DeliveryScan {
  const conditions = [
    sql`d.company = ${company} AND d.webhook = ${webhook}`,
    ...(isRare(state) ? [inState(state)] : []),
    ...(from ? [sql`d.id >= ${firstId('dlv_', from)}`] : []),
    ...(until ? [sql`d.id < ${firstId('dlv_', until)}`] : []),
    ...(before === undefined ? [] : [sql`d.id < ${before}`]),
  ];
  // Without the hint, SQLite would scan the table, which has the same order.
  const hint = isRare(state) ? dialectOf(db).indexedBy(`deliveries_${state}`) : sql``;
  return { table: sql`deliveries AS d ${hint}`, condition: sql.join(conditions, sql` AND `) };
}

/** Finds the id at which a search stops early; undefined when the search can reach the end. */
async function searchEnd(
  db: Connection,
  { table, condition }: DeliveryScan,
  { lookedAtMax = LOOKED_AT_MAX }: PageOptions,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    SELECT d.id FROM ${table} WHERE ${condition}
    ORDER BY d.id DESC LIMIT 1 OFFSET ${sql.lit(lookedAtMax)}`.execute(db);
  return rows[0]?.id;
}

/** A string that sorts after every event id. */
const LAST_EVENT = 'evt_g';

interface EventRow {
  id: string;
  kind: EventKind;
  created_at: string;
  is_test: number;
}

/** The bounds of a scan of events of one kind, or of one record. */
interface EventSpan extends Pick<DeliveryFilter, 'kinds' | 'record'> {
  from: string;
  before: string;
}

/**
 * Scans events of one kind, or of one record, with the deliveries of each, in steps. In a single join, a planner that doesn't
 * know the values would start from the deliveries, and read all of the webhook's.
 * @param webhooks others whose deliveries are read too; `of` is the oldest. A page doesn't end between those of one event.
 */
export async function scanEvents(
  db: Connection,
  of: ListedWebhook,
  filter: DeliveryFilter,
  page: PageOptions,
  webhooks: readonly string[] = [of.webhook],
): Promise<Scanned> {
  const span = eventSpan(of, filter, page);
  const found: EventDelivery[] = [];
  const { lookedAtMax = LOOKED_AT_MAX } = page;
  const atOnce = Math.ceil(EVENTS_AT_ONCE / webhooks.length);
  for (let lookedAt = 0; lookedAt < lookedAtMax; lookedAt += atOnce) {
    const events = await listEvents(db, of.company, span, atOnce);
    found.push(...(await deliveriesOf(db, { company: of.company, webhooks }, events, filter)));
    const before = found[page.countMax - 1]?.event;
    if (before !== undefined && found.length > page.countMax)
      return { rows: found.filter(({ event }) => event >= before), before, isCutShort: false };
    if (events.length < atOnce) return { rows: found, before: undefined, isCutShort: false };
    span.before = events.at(-1)?.id ?? span.before;
  }
  return { rows: found, before: span.before, isCutShort: true };
}

function eventSpan(
  { createdAt }: ListedWebhook,
  { kinds, record, from, until }: DeliveryFilter,
  page: PageOptions,
): EventSpan {
  const registeredAt = new Date(createdAt);
  const end = until ? firstId('evt_', until) : LAST_EVENT;
  return {
    kinds,
    record,
    from: firstId('evt_', from && from > registeredAt ? from : registeredAt),
    before: page.before !== undefined && page.before < end ? page.before : end,
  };
}

/** Reads the next events of a scan, newest first. */
async function listEvents(
  db: Connection,
  company: string,
  { kinds = [], record, from, before }: EventSpan,
  countMax: number,
): Promise<EventRow[]> {
  // The key is compared and ordered as a whole, so that no other index has this order.
  const key = sql`(e.company, e.kind, e.id)`;
  const { isDistributed, indexedBy } = dialectOf(db);
  const isIn =
    record === undefined
      ? sql`${boundTo(isDistributed ? company : undefined, 'e.company')} AND ${key} >= (${company}, ${kinds[0]}, ${from})
        AND ${key} < (${company}, ${kinds[0]}, ${before}) ORDER BY e.company DESC, e.kind DESC,`
      : sql`e.company = ${company} AND ${sql.raw(RECORD_ID)} = ${record} AND e.id >= ${from} AND e.id < ${before}
        AND ${kinds.length > 0 ? sql`e.kind IN (${sql.join(kinds)})` : sql`TRUE`} ORDER BY`;
  const { rows } = await sql<EventRow>`
    SELECT e.id, e.kind, e.created_at, e.is_test FROM events AS e ${record === undefined ? sql`` : indexedBy('events_of_record')}
    WHERE ${isIn} e.id DESC LIMIT ${sql.lit(countMax)}`.execute(db);
  return rows;
}

type EventDelivery = ScannedRow & { event: string };

/** Reads the webhooks' deliveries of some events, in the order of the events. */
async function deliveriesOf(
  db: Connection,
  { company, webhooks }: { company: string; webhooks: readonly string[] },
  events: readonly EventRow[],
  { state }: DeliveryFilter,
): Promise<EventDelivery[]> {
  if (events.length === 0) return [];
  // The webhook is hidden from the indexes, and SQLite is told which; otherwise all its deliveries would be read.
  const { rows } = await sql<Omit<EventDelivery, 'kind' | 'created_at' | 'is_test'>>`
    SELECT d.webhook, d.id, d.event, d.state, d.withheld_for, d.due_at, d.attempt_count
    FROM deliveries AS d ${dialectOf(db).indexedBy('deliveries_of_event')}
    WHERE d.company = ${company} AND d.event IN (${sql.join(events.map(({ id }) => id))})
      AND ${withoutIndex('d.webhook')} IN (${sql.join(webhooks)}) AND ${inState(state)}`.execute(db);
  const byEvent = Map.groupBy(rows, ({ event }) => event);
  return events.flatMap((event) => (byEvent.get(event.id) ?? []).map((row) => ({ ...event, ...row })));
}

/** Returns a string that sorts before every id made at a time or later (RFC 9562 section 5.7). */
function firstId(prefix: string, at: Date): string {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0');
  return `${prefix}${time.slice(0, 8)}-${time.slice(8)}`;
}
