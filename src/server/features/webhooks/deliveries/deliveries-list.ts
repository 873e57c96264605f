import { type RawBuilder, sql } from 'kysely';

import type { EventKind } from '../../../../contract/events.ts';
import { countRows } from '../../../store/batches.ts';
import { type Connection, dialectOf, withoutIndex } from '../../../store/dialects/dialect.ts';
import { boundTo } from '../../../store/machines.ts';
import { hasStatus } from '../../../store/statuses.ts';
import { type DeliveryRecord, type DeliveryRow, withAttempts } from './delivery-details.ts';
import { RECORD_ID } from '../../../store/tables/webhooks.ts';
import type { Webhook } from '../stored-webhooks.ts';
import type { WebhookRef } from './delivery-keys.ts';

/** A group of delivery states that the history can be filtered by. */
export type StateGroup = 'waiting' | 'retrying' | 'delivered' | 'unsent';

export interface DeliveryFilter {
  kinds?: readonly EventKind[] | undefined;
  /** The id of a delivery, or of the record that the events are about. */
  record?: string | undefined;
  state?: StateGroup | undefined;
  /** The class of the last attempt's response, such as `4xx`; `0xx` if there was none. */
  response?: string | undefined;
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
const LOOKED_AT_MAX = 5_000;
/** Number of events that are joined with their deliveries in one step. */
const EVENTS_AT_ONCE = 200;

/** A webhook whose deliveries are listed. None of its events is older than the webhook. */
export type ListedWebhook = Pick<Webhook, 'company' | 'id' | 'createdAt' | 'pausedAt'>;

/** The start and size of a page. It starts before the id at which the previous page ended, or at the newest delivery. */
interface PageOptions {
  before?: string | undefined;
  countMax: number;
}

/** A page, and the maximum number of rows that each of its scans reads. */
interface ScanOptions extends PageOptions {
  lookedAtMax: number;
}

/**
 * Lists the deliveries of a company's webhooks that match a filter, newest first. A page may be a little longer than
 * `countMax`.
 *
 * Ids begin with their time, so a period is a range of ids. A page reads the most selective index: the state's, a single
 * event kind's, a record's, or that of all deliveries. It stops after a few thousand rows.
 * @param webhooks the oldest first.
 */
export async function listDeliveryRows(
  db: Connection,
  webhooks: readonly ListedWebhook[],
  filter: DeliveryFilter,
  page: PageOptions,
): Promise<ListedPage> {
  if (webhooks.length === 0) return { deliveries: [], before: undefined, isCutShort: false };
  const { kinds, record, state, response } = filter;
  const isDelivery = record?.startsWith('dlv_');
  // Few events can match, so their deliveries are looked up.
  const isOfFewEvents = !isDelivery && (record !== undefined || (kinds?.length === 1 && !isRare(state)));
  const scan = isOfFewEvents ? scanEvents : scanWebhooks;
  // Looking up each event's deliveries, or each delivery's attempt, takes twice as long.
  const lookedAtMax = Math.ceil(LOOKED_AT_MAX / (isOfFewEvents || response ? 2 : 1) / webhooks.length);
  const { rows, ...end } = await scan(db, webhooks, filter, { ...page, lookedAtMax });
  return { deliveries: await withAttempts(db, webhooks, rows), ...end };
}

interface Scanned extends Omit<ListedPage, 'deliveries'> {
  rows: DeliveryRow[];
}

/** SQL conditions by group; two must equal those of the partial indexes `deliveries_retrying` and `deliveries_unsent`. */
const states: Record<StateGroup, RawBuilder<boolean>> = {
  waiting: sql`d.state IN ('waiting', 'sending')`,
  retrying: sql`d.state = 'retrying'`,
  delivered: sql`d.state = 'delivered'`,
  unsent: sql`d.state IN ('failed', 'withheld')`,
};

const isRare = (state: StateGroup | undefined) => state === 'retrying' || state === 'unsent';

/** Returns the SQL condition for the state and the last response of a delivery. */
function isLike({ state, response }: DeliveryFilter): RawBuilder<boolean> {
  const isInState = state ? states[state] : sql<boolean>`TRUE`;
  if (!response) return isInState;
  // A join or EXISTS would let PostgreSQL scan all attempts.
  return sql`${isInState} AND (SELECT ${hasStatus(sql`COALESCE(a.status, 0)`, response)} FROM delivery_attempts AS a
    WHERE a.company = d.company AND a.webhook = d.webhook AND a.delivery = d.id AND a.number = d.attempt_count)`;
}

/** Scans the deliveries of each webhook. The page ends where it is full, or where the first of the scans stops. */
async function scanWebhooks(
  db: Connection,
  webhooks: readonly ListedWebhook[],
  filter: DeliveryFilter,
  page: ScanOptions,
): Promise<Scanned> {
  const found: DeliveryRow[] = [];
  let end = '';
  for (const { company, id } of webhooks) {
    const scanned = await scanDeliveries(db, { company, webhook: id }, filter, page);
    found.push(...scanned.rows);
    if (scanned.end !== undefined && scanned.end > end) end = scanned.end;
  }
  found.sort((one, other) => (one.id < other.id ? 1 : -1));
  const last = found.length > page.countMax ? (found[page.countMax - 1]?.id ?? '') : '';
  if (last > end) end = last;
  const rows = found.filter(({ id }) => id >= end);
  return { rows, before: end || undefined, isCutShort: end !== '' && rows.length < page.countMax };
}

/**
 * Scans all deliveries of a webhook, or those in a rare state, and joins the event of each.
 * @returns one row more than the page has, if there is one, and the id at which the scan stopped early, if it did.
 */
async function scanDeliveries(
  db: Connection,
  of: WebhookRef,
  filter: DeliveryFilter,
  page: ScanOptions,
): Promise<{ rows: DeliveryRow[]; end: string | undefined }> {
  const { kinds, state, response } = filter;
  const scan = deliveriesIn(db, of, filter, page.before);
  const mayRefuse = kinds !== undefined || response !== undefined || (state !== undefined && !isRare(state));
  const end = mayRefuse ? await searchEnd(db, scan, page) : undefined;
  const { rows } = await sql<DeliveryRow>`
    SELECT d.webhook, d.id, e.kind, e.created_at, e.is_test, d.state, d.withheld_for, d.due_at, d.attempt_count
    FROM ${scan.table} CROSS JOIN events AS e
    WHERE ${scan.condition} AND e.company = ${of.company} AND e.id = d.event AND ${end === undefined ? sql`TRUE` : sql`d.id >= ${end}`}
      AND ${kinds ? sql`e.kind IN (${sql.join(kinds)})` : sql`TRUE`} AND ${isLike(filter)}
    ORDER BY d.id DESC LIMIT ${sql.lit(page.countMax + 1)}`.execute(db);
  return { rows, end };
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
  return deliveriesIn(db, of, { ...choice, state: 'unsent' });
}

interface DeliveryScan {
  table: RawBuilder<unknown>;
  condition: RawBuilder<unknown>;
}

/** Builds the SQL table, with the alias `d`, and the SQL condition for a scan of deliveries. A `record` is a delivery's id. */
function deliveriesIn(
  db: Connection,
  { company, webhook }: WebhookRef,
  { record, state, from, until, ids }: DeliveryFilter & { ids?: readonly string[] },
  before?: string,
): DeliveryScan {
  const conditions = [
    sql`d.company = ${company} AND d.webhook = ${webhook}`,
    ...(isRare(state) ? [isLike({ state })] : []),
    ...(from ? [sql`d.id >= ${firstId('dlv_', from)}`] : []),
    ...(until ? [sql`d.id < ${firstId('dlv_', until)}`] : []),
    ...(record === undefined ? [] : [sql`d.id = ${record}`]),
    ...(ids ? [sql`d.id IN (${sql.join(ids)})`] : []),
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
  { lookedAtMax }: ScanOptions,
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

/**
 * Scans events of one kind, or of one record, with the deliveries of each, in steps. In a single join, a planner that doesn't
 * know the values would start from the deliveries, and read all of the webhooks'.
 */
async function scanEvents(
  db: Connection,
  webhooks: readonly ListedWebhook[],
  filter: DeliveryFilter,
  page: ScanOptions,
): Promise<Scanned> {
  const [{ company, createdAt } = { company: '', createdAt: '' }] = webhooks;
  const span = eventSpan(createdAt, filter, page);
  const of = { company, webhooks: webhooks.map(({ id }) => id) };
  const found: EventDelivery[] = [];
  const atOnce = Math.ceil(EVENTS_AT_ONCE / webhooks.length);
  for (let lookedAt = 0; lookedAt < page.lookedAtMax; lookedAt += atOnce) {
    const events = await listEvents(db, company, filter, { ...span, countMax: atOnce });
    found.push(...(await deliveriesOf(db, of, events, filter)));
    const before = found[page.countMax - 1]?.event;
    if (before !== undefined && found.length > page.countMax)
      return { rows: found.filter(({ event }) => event >= before), before, isCutShort: false };
    if (events.length < atOnce) return { rows: found, before: undefined, isCutShort: false };
    span.before = events.at(-1)?.id ?? span.before;
  }
  return { rows: found, before: span.before, isCutShort: true };
}

/** Returns the ids between which events are scanned; the second is excluded. */
function eventSpan(createdAt: string, { from, until }: DeliveryFilter, { before }: PageOptions) {
  const registeredAt = new Date(createdAt);
  const end = until ? firstId('evt_', until) : LAST_EVENT;
  return {
    from: firstId('evt_', from && from > registeredAt ? from : registeredAt),
    before: before !== undefined && before < end ? before : end,
  };
}

/** Reads the next events of one kind, or of one record, newest first. */
async function listEvents(
  db: Connection,
  company: string,
  { kinds = [], record }: DeliveryFilter,
  { from, before, countMax }: { from: string; before: string; countMax: number },
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

type EventDelivery = DeliveryRow & { event: string };

/** Reads the webhooks' deliveries of some events, in the order of the events. */
async function deliveriesOf(
  db: Connection,
  { company, webhooks }: { company: string; webhooks: readonly string[] },
  events: readonly EventRow[],
  filter: DeliveryFilter,
): Promise<EventDelivery[]> {
  if (events.length === 0) return [];
  // The webhook is hidden from the indexes, and SQLite is told which; otherwise all its deliveries would be read.
  const { rows } = await sql<Omit<EventDelivery, 'kind' | 'created_at' | 'is_test'>>`
    SELECT d.webhook, d.id, d.event, d.state, d.withheld_for, d.due_at, d.attempt_count
    FROM deliveries AS d ${dialectOf(db).indexedBy('deliveries_of_event')}
    WHERE d.company = ${company} AND d.event IN (${sql.join(events.map(({ id }) => id))})
      AND ${withoutIndex('d.webhook')} IN (${sql.join(webhooks)}) AND ${isLike(filter)}`.execute(db);
  const byEvent = Map.groupBy(rows, ({ event }) => event);
  return events.flatMap((event) => (byEvent.get(event.id) ?? []).map((row) => ({ ...event, ...row })));
}

/** Returns a string that sorts before every id made at a time or later (RFC 9562 section 5.7). */
function firstId(prefix: string, at: Date): string {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0');
  return `${prefix}${time.slice(0, 8)}-${time.slice(8)}`;
}
