import { sql } from 'kysely';

import { DAY_MS, HISTORY_MS, HOUR_MS, MINUTE_MS } from '../../../contract/durations.ts';
import { addNotice, type NoticeKind } from '../../store/accounts/notice-rows.ts';
import { countRows } from '../../store/batches.ts';
import { type Connection, dialectOf } from '../../store/dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import { byCompany, ofAllCompanies, resultsOf } from '../../store/machines.ts';
import { readRow } from '../../store/tables/table.ts';
import { type DeliveryState, webhooks } from '../../store/tables/webhooks.ts';
import { type WebhookRef, webhookText } from './deliveries/delivery-keys.ts';
import { namesOf, type Webhook } from './stored-webhooks.ts';

/** Time without a delivery after which people are told that a webhook fails; they are told again each day. */
const FAILING_MS = 15 * MINUTE_MS;
const AGAIN_MS = DAY_MS;
/** Minimum time between telling people of one outage of a webhook and telling them of the next. */
const CALM_MS = 4 * HOUR_MS;
/** Maximum number of outages handled in one run; the rest wait for the next. */
const OUTAGES_MAX = 500;
const COUNT_MAX = 10_000;

/** The state of a delivery after an attempt. */
interface Result extends WebhookRef {
  state: DeliveryState;
  attempt: { attemptedAt: string } | undefined;
}

/**
 * Records when webhooks began to fail, and tells people of deliveries now marked failed, in the transaction that stores the
 * results. People are told at most once in an outage and once a day.
 */
export async function noteFailures(transaction: StoreTransaction, results: readonly Result[]): Promise<void> {
  const failures = results.filter(({ state }) => state === 'retrying' || state === 'failed');
  const webhooks = Map.groupBy(failures, webhookText);
  // Webhooks are updated in the order of their keys, which prevents deadlocks between workers.
  for (const [, ofWebhook] of [...webhooks].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const [{ company, webhook } = { company: '', webhook: '' }] = ofWebhook;
    const [at = ''] = ofWebhook.map(({ attempt }) => attempt?.attemptedAt ?? '').sort();
    await sql`
      UPDATE webhooks SET failing_since = ${at}
      WHERE company = ${company} AND id = ${webhook} AND failing_since IS NULL`.execute(transaction);
    if (!ofWebhook.some(({ state }) => state === 'failed')) continue;
    const before = new Date(Date.parse(at) - AGAIN_MS).toISOString();
    const { rows } = await sql<ToldOf>`
      UPDATE webhooks SET failed_told_at = ${at}
      WHERE company = ${company} AND id = ${webhook} AND deleted_at IS NULL AND (failed_told_at IS NULL
        OR failed_told_at <= ${before} AND (failing_since IS NULL OR failed_told_at < failing_since))
      RETURNING url, description, replaces, events`.execute(transaction);
    for (const told of rows)
      await tell(transaction, 'delivery.failed', { company, webhook, ...told }, {}, new Date(at));
  }
}

interface ToldOf extends Pick<Webhook, 'url' | 'description' | 'replaces'> {
  events: string;
}

/** A failing webhook: when the outage began, when people were last told, and its last success and failure since it began. */
interface Outage extends WebhookRef, ToldOf {
  since: string;
  told: string | null;
  until: string | null;
  /** The time of the last failure, followed by its reason and the rest of the stored text. */
  failed: string | null;
}

/**
 * Tells people of webhooks that have failed for a quarter of an hour or another day, and when they work again. Paused
 * webhooks wait. If several processes look at once, only one tells. For a webhook that fails and works by turns, people are
 * told every four hours at most; without new failures they aren't told again.
 */
export async function tellOutages(engine: Engine, now: Date): Promise<void> {
  const timeBefore = (ms: number) => new Date(now.getTime() - ms).toISOString();
  const [begunBy, toldBy, calmBy] = [FAILING_MS, AGAIN_MS, CALM_MS].map(timeBefore);
  const outages = await ofAllCompanies(
    engine,
    (isReached) => sql<Outage>`
      SELECT * FROM (
        SELECT w.company, w.id AS webhook, w.url, w.description, w.replaces, w.events, w.paused_at, w.failing_since AS since, w.failing_told_at AS told, (
          SELECT MAX(h.last_delivered_at) FROM webhook_hours AS h
          WHERE h.company = w.company AND h.webhook = w.id AND h.hour >= substr(w.failing_since, 1, 13)
            AND ${isReached('h.company')}
        ) AS until, (
          SELECT MAX(h.last_failure) FROM webhook_hours AS h
          WHERE h.company = w.company AND h.webhook = w.id AND h.hour >= substr(w.failing_since, 1, 13)
            AND ${isReached('h.company')}
        ) AS failed
        FROM webhooks AS w WHERE w.failing_since IS NOT NULL AND w.deleted_at IS NULL AND ${isReached('w.company')}
      ) AS failing
      WHERE until > since OR paused_at IS NULL AND since <= ${begunBy} AND (told IS NULL
        OR failed > told AND (told <= ${toldBy} OR told < since AND told <= ${calmBy}))
      LIMIT ${OUTAGES_MAX}`,
  );
  const done = await byCompany(engine, outages, async (some) => {
    for (const outage of some) await tellOutage(engine, outage, now);
  });
  resultsOf(done);
}

async function tellOutage(engine: Engine, outage: Outage, now: Date): Promise<void> {
  const { since, told, until, failed } = outage;
  const isOver = until !== null && until > since;
  const failsAgain = isOver && failed !== null && failed > until;
  const [failedAt = '', cause = ''] = (failed ?? '').split(' ');
  await engine.transaction(async (transaction) => {
    const mark = isOver
      ? { failing_since: failsAgain ? failedAt : null }
      : { failing_told_at: now.toISOString() };
    if (!(await markTold(transaction, outage, { failing_since: since }, mark))) return;
    // A recovery is no news to people who weren't told of the outage.
    const wasTold = told !== null && told >= since;
    if (failsAgain || (isOver && !wasTold)) return;
    const counts = await countsOf(engine, transaction, outage);
    const details = { since, until: until ?? '', cause, ...counts, ...(wasTold && { again: '1' }) };
    await tell(transaction, isOver ? 'webhook.recovered' : 'webhook.failing', outage, details, now);
  });
}

/** Updates what people were told of a webhook, unless another process was first or the webhook has changed meanwhile. */
async function markTold(
  transaction: StoreTransaction,
  { company, webhook, told }: WebhookRef & { told: string | null },
  is: { failing_since: string } | { paused_at: string },
  mark: { failing_since: string | null } | { failing_told_at: string },
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('webhooks')
    .set(mark)
    .where('deleted_at', 'is', null)
    .where((row) => row.and({ company, id: webhook, ...is }))
    .where('failing_told_at', told === null ? 'is' : '=', told)
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

/** Adds a notice for everyone who may see one of a webhook's events. */
async function tell(
  transaction: StoreTransaction,
  kind: NoticeKind,
  { company, webhook, events, ...named }: WebhookRef & ToldOf,
  details: Record<string, string>,
  now: Date,
): Promise<void> {
  await addNotice(transaction, {
    ...{ company, kind, now, events: readRow(webhooks, { events }).events },
    details: { ...namesOf({ id: webhook, ...named }), ...details },
  });
}

/** Time before a paused webhook loses its first delivery when people are told; they are told again an hour before it. */
const LOSING_MS = 7 * DAY_MS;
const LOSING_AGAIN_MS = LOSING_MS - HOUR_MS;

/** Tells people of paused webhooks that will soon lose deliveries, which have waited almost as long as they are kept. */
export async function tellLosses(engine: Engine, now: Date): Promise<void> {
  const [oldBy = '', toldBy = ''] = [HISTORY_MS - LOSING_MS, LOSING_AGAIN_MS].map((ms) =>
    new Date(now.getTime() - ms).toISOString(),
  );
  const paused = await ofAllCompanies(
    engine,
    (isReached) => sql<ToldOf & WebhookRef & { paused: string; told: string | null }>`
      SELECT w.company, w.id AS webhook, w.url, w.description, w.replaces, w.events, w.paused_at AS paused,
        w.failing_told_at AS told
      FROM webhooks AS w
      WHERE w.paused_at IS NOT NULL AND w.deleted_at IS NULL AND (w.failing_told_at IS NULL OR w.failing_told_at <= ${toldBy})
        AND ${isReached('w.company')}
      LIMIT ${sql.lit(OUTAGES_MAX)}`,
  );
  const done = await byCompany(engine, paused, async (some) => {
    for (const webhook of some)
      await engine.transaction(async (transaction) => {
        const { paused: pausedAt, told } = webhook;
        const { count, oldestAt } = await findHeld(transaction, webhook, COUNT_MAX + 1);
        if (oldestAt === null || oldestAt > oldBy) return;
        const mark = { failing_told_at: now.toISOString() };
        if (!(await markTold(transaction, webhook, { paused_at: pausedAt }, mark))) return;
        const lost = new Date(Date.parse(oldestAt) + HISTORY_MS).toISOString();
        const again = told !== null && told > pausedAt && { again: '1' };
        const details = { waiting: countText(count), lost, ...again };
        await tell(transaction, 'webhook.losing', webhook, details, now);
      });
  });
  resultsOf(done);
}

/** Counts the deliveries that wait for a webhook, up to `countMax`, and finds when one of the oldest events happened. */
export async function findHeld(
  db: Connection,
  { company, webhook }: WebhookRef,
  countMax: number,
): Promise<{ count: number; oldestAt: string | null }> {
  const waiting = sql`SELECT company, event FROM deliveries ${dialectOf(db).indexedBy('deliveries_waiting')}
    WHERE company = ${company} AND webhook = ${webhook} AND state = 'waiting' ORDER BY due_at LIMIT ${sql.lit(countMax)}`;
  const { rows } = await sql<{ count: number | string; oldest: string | null }>`
    SELECT COUNT(*) AS count, MIN(e.created_at) AS oldest FROM (${waiting}) AS d
    JOIN events AS e ON e.company = d.company AND e.id = d.event AND e.company = ${company}`.execute(db);
  return { count: Number(rows[0]?.count ?? 0), oldestAt: rows[0]?.oldest ?? null };
}

const countText = (count: number) => (count > COUNT_MAX ? `more than ${COUNT_MAX}` : String(count));

/** Counts a webhook's waiting and its given-up deliveries, as text that says "more than" above `COUNT_MAX`. */
async function countsOf(
  { dialect }: Engine,
  transaction: StoreTransaction,
  { company, webhook }: WebhookRef,
) {
  // Each index contains only deliveries in these states.
  const count = async (index: string, state: string) =>
    countRows(
      transaction,
      sql`(SELECT 1 FROM deliveries ${dialect.indexedBy(index)} WHERE company = ${company} AND webhook = ${webhook}
        AND ${sql.raw(state)} LIMIT ${sql.lit(COUNT_MAX + 1)}) AS counted`,
    );
  const waiting = await count('deliveries_waiting', "state = 'waiting'");
  const retrying = await count('deliveries_retrying', "state = 'retrying'");
  const unsent = await count('deliveries_unsent', "state IN ('failed', 'withheld')");
  return { waiting: countText(waiting + retrying), unsent: countText(unsent) };
}
