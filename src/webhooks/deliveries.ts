import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import type { EventKind } from '../contract/events.ts';
import type { JsonText } from '../contract/json-text.ts';
import { quote, UsageError } from '../errors.ts';
import type { Actor, DeedKind } from '../store/audit.ts';
import {
  type DeliveryRecord,
  hasDelivery,
  hasWebhook,
  insertPing,
  listDeliveryRecords,
  resendDelivery,
  resendUnsent,
} from '../store/deliveries-history.ts';
import { type DeliveryDetail, findDelivery } from '../store/delivery-details.ts';
import type { Engine } from '../store/engine.ts';
import { HISTORY_DAYS } from './purge.ts';

/** A webhook of a company. */
export interface WebhookOf {
  company: string;
  webhook: string;
}

export interface DeliveryPage {
  deliveries: DeliveryRecord[];
  /** What the next page goes on before; null at the end. */
  nextBefore: string | null;
}

/** Deliveries on one page. */
export const PAGE_MAX = 100;
/** What one delivery can have in all: nobody needs more, and its attempts are shown on one page. */
const ATTEMPTS_MAX = 100;
const RECOVER_BATCH = 100;
const PINGS_MAX = 5;
const PINGS_OF_COMPANY_MAX = 20;
const PING_WINDOW_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * The deliveries of a webhook with every attempt, the newest first (service.md, "Registering a webhook").
 * @throws UsageError when there is no such webhook, it has no delivery `before`, or `limit` isn't from 1 to 100.
 */
export async function listDeliveries(
  engine: Engine,
  of: WebhookOf,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<DeliveryPage> {
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX)
    throw new UsageError(`The limit must be an integer from 1 to ${PAGE_MAX}, not ${limit}.`);
  await requireWebhook(engine, of);
  if (before !== undefined && !(await hasDelivery(engine, of, before)))
    throw new UsageError(`The webhook ${quote(of.webhook)} has no delivery ${quote(before)}.`);
  const found = await listDeliveryRecords(engine, of, { before, countMax: limit + 1 });
  const deliveries = found.slice(0, limit);
  return { deliveries, nextBefore: found.length > limit ? (deliveries.at(-1)?.id ?? null) : null };
}

/**
 * Sends a delivery again, whatever became of it: the same id and body with a fresh signature, and the schedule from its
 * beginning.
 * @param options.by who is named in the audit trail, here and below; an operator unless told.
 * @param options.attemptCount what `by` saw: nothing is sent when there was another attempt since, or it waits already.
 * @throws UsageError when there is none, when it is being sent at this moment, and when it has had 100 attempts.
 */
export async function resend(
  engine: Engine,
  of: WebhookOf & { id: string },
  now: Date,
  { by, attemptCount }: { by?: Actor; attemptCount?: number } = {},
): Promise<'waiting' | 'changed'> {
  await requireWebhook(engine, of);
  const outcome = await resendDelivery(engine, of, {
    dueAt: now.toISOString(),
    attemptsMax: ATTEMPTS_MAX,
    attemptCount,
    deed: deedOf(of, 'delivery.sent_again', { by, now, subject: of.id }),
  });
  const name = `delivery ${quote(of.id)}`;
  if (outcome === undefined) throw new UsageError(`The webhook ${quote(of.webhook)} has no ${name}.`);
  if (outcome === 'sending')
    throw new UsageError(`The ${name} is being sent at this moment; look at its result first.`);
  if (outcome === 'limit reached')
    throw new UsageError(`The ${name} has had ${ATTEMPTS_MAX} attempts, which is the limit.`);
  return outcome;
}

/**
 * Sends everything again that failed or was withheld, of events since a time.
 * @param options.kinds only events of these kinds; all of them unless told.
 * @returns how many deliveries that are.
 * @throws UsageError when there is no such webhook, or the time isn't within the last 30 days.
 */
export async function recover(
  engine: Engine,
  of: WebhookOf,
  since: Date,
  now: Date,
  { by, kinds }: { by?: Actor; kinds?: readonly EventKind[] } = {},
): Promise<number> {
  const ageMs = now.getTime() - since.getTime();
  if (!(ageMs >= 0 && ageMs <= HISTORY_DAYS * DAY_MS))
    throw new UsageError(`The time must lie within the last ${HISTORY_DAYS} days.`);
  await requireWebhook(engine, of);
  const page = { since: since.toISOString(), dueAt: now.toISOString(), attemptsMax: ATTEMPTS_MAX, kinds };
  const details = { since: page.since };
  const deed = deedOf(of, 'deliveries.recovered', { by, now, subject: of.webhook, details });
  let count = 0;
  let after: string | undefined = '';
  while (after !== undefined) {
    const options = { after, countMax: RECOVER_BATCH, deed: count === 0 ? deed : undefined };
    const batch = await resendUnsent(engine, of, { ...page, ...options });
    count += batch.count;
    after = batch.last;
  }
  return count;
}

/**
 * Sends a signed `ping` to a webhook (service.md, "Registering a webhook").
 * @returns the id of its delivery.
 * @throws UsageError when there is no such webhook, when it is paused, and after 5 pings within a minute, or 20 of
 *   the company's webhooks together: who may ping without limit has a scanner of other people's ports.
 */
export async function ping(
  engine: Engine,
  of: WebhookOf,
  { now, by }: { now: Date; by?: Actor },
): Promise<string> {
  const data = JSON.stringify({ message: 'This is a test delivery.' }) as JsonText<{ message: string }>;
  const ids = { id: timeOrderedId('dlv_', now), event: timeOrderedId('evt_', now) };
  const since = new Date(now.getTime() - PING_WINDOW_MS).toISOString();
  const ping = { ...of, ...ids, data, at: now.toISOString() };
  const limit = { since, countMax: PINGS_MAX, ofCompanyMax: PINGS_OF_COMPANY_MAX };
  const deed = deedOf(of, 'webhook.pinged', { by, now, subject: of.webhook });
  const outcome = await insertPing(engine, ping, limit, deed);
  if (outcome === 'no webhook') throw unknownWebhook(of);
  if (outcome === 'paused')
    throw new UsageError(`The webhook ${quote(of.webhook)} is paused; resume it first.`);
  if (outcome === 'limit reached')
    throw new UsageError(
      `A webhook can be pinged ${PINGS_MAX} times a minute, and those of a company ${PINGS_OF_COMPANY_MAX} times together; wait a little.`,
    );
  return ids.id;
}

const LOOK_EVERY_MS = 50;

/** Waits for the first attempt of a delivery, or until it is clear that there is none now; so long at most. */
export async function waitForAttempt(
  engine: Engine,
  of: WebhookOf & { id: string },
  msMax: number,
): Promise<DeliveryDetail | undefined> {
  const deadline = performance.now() + msMax;
  for (;;) {
    const found = await findDelivery(engine, of);
    const isOpen = found?.state === 'waiting' || found?.state === 'sending';
    if (!found || found.attempts.length > 0 || !isOpen || performance.now() >= deadline) return found;
    await pause(LOOK_EVERY_MS);
  }
}

function deedOf(
  { company, webhook }: WebhookOf,
  action: DeedKind,
  deed: { by: Actor | undefined; now: Date; subject: string; details?: Record<string, string> },
) {
  const { by = 'operator', now, subject, details } = deed;
  const named = subject === webhook ? { webhook } : { webhook, delivery: subject };
  return { company, action, by, now, subject, details: { ...named, ...details } };
}

/** A UUIDv7 (RFC 9562 section 5.7) behind a prefix: the order of ids is that of their making. */
function timeOrderedId(prefix: string, at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0');
  const bytes = randomBytes(10);
  bytes[0] = ((bytes[0] ?? 0) & 0x0f) | 0x70;
  bytes[2] = ((bytes[2] ?? 0) & 0x3f) | 0x80;
  const tail = bytes.toString('hex');
  return `${prefix}${time.slice(0, 8)}-${time.slice(8)}-${tail.slice(0, 4)}-${tail.slice(4, 8)}-${tail.slice(8)}`;
}

async function requireWebhook(engine: Engine, of: WebhookOf): Promise<void> {
  if (!(await hasWebhook(engine, of))) throw unknownWebhook(of);
}

function unknownWebhook({ company, webhook }: WebhookOf): UsageError {
  return new UsageError(`The company ${quote(company)} has no webhook ${quote(webhook)}.`);
}
