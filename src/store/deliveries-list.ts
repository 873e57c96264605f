import { type RawBuilder, sql } from 'kysely';

import type { EventKind } from '../contract/events.ts';
import type { DeliveryKey, WebhookKey } from './delivery-keys.ts';
import type { Engine } from './engine.ts';
import { unindexed } from './list-queries.ts';
import type { DeliveryState } from './schema.ts';

/** A delivery in a list. */
export interface ListedDelivery {
  id: string;
  event: EventKind;
  createdAt: string;
  state: DeliveryState;
  withheldFor: string | null;
  /** Attempts that were begun. */
  attemptCount: number;
  /** How the last one ended; null while it is under way, and when there is none. */
  lastAttempt: { at: string; status: number | null; error: string | null } | null;
}

/** States that are filtered by together: what is still to come, and what was never delivered. */
export type StateGroup = 'open' | 'delivered' | 'unsent';

export interface DeliveryFilter {
  /** Undefined for every kind. */
  kinds: readonly EventKind[] | undefined;
  state: StateGroup | undefined;
  /** When the event happened: from a time up to, and without, another. */
  from: Date | undefined;
  until: Date | undefined;
}

export interface ListedPage {
  deliveries: ListedDelivery[];
  /** The id before which the next page goes on; undefined at the end. */
  before: string | undefined;
  /** There may be more than was found, because so many were looked at in vain that the search was broken off. */
  isCutShort: boolean;
}

/** How many deliveries one page looks at to find those that it shows: some milliseconds' worth. */
const LOOKED_AT_MAX = 5_000;

/**
 * Deliveries of a webhook that pass a filter, the newest first.
 *
 * Ids hold the time of their making, so a span of time is a range of ids. A page walks the one index that has the
 * fewest others in it: that of the state, that of a single kind of event, or all deliveries; and it ends after some
 * thousand rows, whatever was found.
 * @param page.before the id of the last one that was shown, or up to which was looked; undefined for the first page.
 * @param page.since when the webhook was registered: it heard of nothing before.
 */
export async function listFilteredDeliveries(
  engine: Engine,
  of: WebhookKey,
  filter: DeliveryFilter,
  page: { before: string | undefined; since: string; countMax: number },
): Promise<ListedPage> {
  const walk = await walkOf(engine, of, filter, page);
  const mayRefuse = filter.kinds !== undefined || filter.state === 'delivered';
  const floor = mayRefuse ? await floorOf(engine, walk) : undefined;
  const end = floor === undefined ? walk.range : sql`${walk.range} AND ${walk.id} >= ${floor}`;
  const found = await sql<ListedRow>`
    SELECT d.id, e.kind, e.created_at, d.state, d.withheld_for, d.attempt_count, a.attempted_at, a.status, a.error
    FROM ${walk.tables}
    LEFT JOIN delivery_attempts AS a ON a.company = d.company AND a.webhook = d.webhook AND a.delivery = d.id
      AND a.number = d.attempt_count
    WHERE ${end} AND ${walk.others} AND ${conditions(filter)}
    ORDER BY ${walk.id} DESC LIMIT ${sql.lit(page.countMax + 1)}`.execute(engine.db);
  const rows = found.rows.slice(0, page.countMax);
  const isMore = found.rows.length > page.countMax;
  const isCutShort = !isMore && floor !== undefined;
  return {
    deliveries: rows.map(toListed),
    before: isMore ? rows.at(-1)?.id : floor,
    isCutShort,
  };
}

interface ListedRow {
  id: string;
  kind: EventKind;
  created_at: string;
  state: DeliveryState;
  withheld_for: string | null;
  attempt_count: number;
  attempted_at: string | null;
  status: number | null;
  error: string | null;
}

function toListed(row: ListedRow): ListedDelivery {
  const { attempted_at: at, status, error } = row;
  return {
    id: row.id,
    event: row.kind,
    createdAt: row.created_at,
    state: row.state,
    withheldFor: row.withheld_for,
    attemptCount: row.attempt_count,
    lastAttempt: at === null ? null : { at, status, error },
  };
}

/** What a page goes along. */
interface Walk {
  /** Joins deliveries as `d` and events as `e`, the one that is walked first. */
  tables: RawBuilder<unknown>;
  /** The walked id, in the statement with both tables. */
  id: RawBuilder<string>;
  /** Which rows are walked, and which of the joined ones belong to them. */
  range: RawBuilder<boolean>;
  others: RawBuilder<boolean>;
  /** The ids of the walked rows alone. */
  alone: RawBuilder<unknown>;
}

const deliveryId = sql<string>`d.id`;
const eventId = sql<string>`e.id`;

/** The indexes `deliveries_open` and `deliveries_unsent` serve conditions in these very words. */
const states: Record<StateGroup, RawBuilder<boolean>> = {
  open: sql`d.state IN ('waiting', 'sending', 'retrying')`,
  delivered: sql`d.state = 'delivered'`,
  unsent: sql`d.state IN ('failed', 'withheld')`,
};

function conditions({ kinds, state }: DeliveryFilter): RawBuilder<boolean> {
  const ofKind = kinds ? sql`e.kind IN (${sql.join(kinds)})` : sql`TRUE`;
  return sql`${ofKind} AND ${state ? states[state] : sql`TRUE`}`;
}

async function walkOf(
  engine: Engine,
  of: WebhookKey,
  filter: DeliveryFilter,
  page: { before: string | undefined; since: string },
): Promise<Walk> {
  const { kinds, state } = filter;
  const isRareState = state === 'open' || state === 'unsent';
  if (kinds?.length === 1 && !isRareState) return eventWalk(engine, of, filter, page);
  const { company, webhook } = of;
  const range = sql<boolean>`d.company = ${company} AND d.webhook = ${webhook}
    AND ${isRareState ? states[state] : sql`TRUE`} AND ${spanOf('dlv_', deliveryId, filter, page.before)}`;
  return {
    tables: sql`deliveries AS d CROSS JOIN events AS e`,
    id: deliveryId,
    range,
    others: sql`e.id = d.event`,
    alone: sql`SELECT d.id FROM deliveries AS d WHERE ${range} ORDER BY d.id DESC`,
  };
}

/** Events of one kind, and of each the delivery to this webhook. */
async function eventWalk(
  engine: Engine,
  of: WebhookKey,
  filter: DeliveryFilter,
  page: { before: string | undefined; since: string },
): Promise<Walk> {
  const { company, webhook } = of;
  const [kind = ''] = filter.kinds ?? [];
  const before = page.before === undefined ? undefined : await eventOf(engine, { ...of, id: page.before });
  const since = new Date(page.since);
  const from = filter.from && filter.from > since ? filter.from : since;
  const range = sql<boolean>`e.company = ${company} AND e.kind = ${kind}
    AND ${spanOf('evt_', eventId, { from, until: filter.until }, before)}`;
  // Hidden from indexes, or all deliveries of the webhook would be looked through for each event.
  const others = sql<boolean>`d.event = e.id AND ${unindexed('d.company')} = ${company}
    AND ${unindexed('d.webhook')} = ${webhook}`;
  return {
    tables: sql`events AS e CROSS JOIN deliveries AS d`,
    id: eventId,
    range,
    others,
    alone: sql`SELECT e.id FROM events AS e WHERE ${range} ORDER BY e.id DESC`,
  };
}

/** A page goes on before a delivery, or before the event up to which was looked. */
async function eventOf(engine: Engine, { company, webhook, id }: DeliveryKey): Promise<string> {
  if (id.startsWith('evt_')) return id;
  const row = await engine.db
    .selectFrom('deliveries')
    .select('event')
    .where('company', '=', company)
    .where('webhook', '=', webhook)
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.event ?? '';
}

function spanOf(
  prefix: 'dlv_' | 'evt_',
  id: RawBuilder<string>,
  { from, until }: Pick<DeliveryFilter, 'from' | 'until'>,
  before: string | undefined,
): RawBuilder<boolean> {
  const bounds = [
    ...(from ? [sql`${id} >= ${firstId(prefix, from)}`] : []),
    ...(until ? [sql`${id} < ${firstId(prefix, until)}`] : []),
    ...(before === undefined ? [] : [sql`${id} < ${before}`]),
  ];
  return bounds.length === 0 ? sql`TRUE` : sql`${sql.join(bounds, sql` AND `)}`;
}

/** What no id that is made at a time or later comes before (RFC 9562 section 5.7). */
function firstId(prefix: string, at: Date): string {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0');
  return `${prefix}${time.slice(0, 8)}-${time.slice(8)}`;
}

/** The id at which a search is broken off; undefined when there are so few rows that it comes to their end. */
async function floorOf(engine: Engine, { alone }: Walk): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    ${alone} LIMIT 1 OFFSET ${sql.lit(LOOKED_AT_MAX)}`.execute(engine.db);
  return rows[0]?.id;
}
