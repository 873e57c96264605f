import { setTimeout as pause } from 'node:timers/promises';

import { DAY_MS } from '../../contract/durations.ts';
import type { Logger } from '../log.ts';
import { forgetOldEntries } from '../store/accounts/audit-trail.ts';
import { removeDeleted, removeOld } from '../store/deliveries/deliveries-purge.ts';
import type { Engine } from '../store/engines/engine.ts';
import { forgetChanges } from '../store/records/moves.ts';
import { removeBefore } from '../store/stored-tables.ts';
import { keepDoing } from './repeating.ts';

/** How long deliveries and their results are listed (openapi.yaml, "Send again"). */
export const HISTORY_DAYS = 30;
/** How long attempts stay counted by the hour: longer than any page looks back. */
const COUNTED_DAYS = 32;
/** Pauses between two rounds, and between two passes of one, in which other work has its turn. */
const ROUND_MS = 60_000;
const PASS_MS = 20;

/** Removes deliveries that are older than the history, those of deleted webhooks, and old ids of changes, until it is disposed of. */
export function keepPurging(
  engine: Engine,
  {
    now,
    log,
    changeIdDays,
    roundMs = ROUND_MS,
  }: { now: () => Date; log: Logger; changeIdDays: number; roundMs?: number },
): AsyncDisposable {
  const work = async (signal: AbortSignal) => {
    await purge(engine, now, signal);
    await purgeChangeIds(engine, { now, days: changeIdDays, signal });
  };
  const onError = (err: unknown) => log.warn({ err }, 'deliveries.not-purged');
  return keepDoing(work, { everyMs: roundMs, onError });
}

/** Removes old deliveries, those of deleted webhooks, old counts and notices, what has ended in the portal, and old entries of audit trails, in short passes. */
export async function purge(engine: Engine, now: () => Date, signal?: AbortSignal): Promise<void> {
  const next = () => pause(PASS_MS);
  let after: string | undefined = '';
  while (after !== undefined && !signal?.aborted) {
    after = await removeOld(engine, new Date(now().getTime() - HISTORY_DAYS * DAY_MS), after);
    if (after !== undefined) await next();
  }
  while (!signal?.aborted && (await removeDeleted(engine))) await next();
  const firstHour = new Date(now().getTime() - COUNTED_DAYS * DAY_MS).toISOString().slice(0, 13);
  for (const [table, before] of [
    ['webhook_hours', firstHour],
    ['notices', new Date(now().getTime() - HISTORY_DAYS * DAY_MS).toISOString()],
    ['portal_sessions', now().toISOString()],
    ['portal_links', now().toISOString()],
  ] as const)
    while (!signal?.aborted && (await removeBefore(engine, table, before))) await next();
  await forgetOldEntries(engine, now());
}

/** Forgets ids of changes that were made so many days ago, in short passes. */
export async function purgeChangeIds(
  engine: Engine,
  { now, days, signal }: { now: () => Date; days: number; signal?: AbortSignal },
): Promise<void> {
  const before = new Date(now().getTime() - days * DAY_MS);
  while (!signal?.aborted && (await forgetChanges(engine, { before, now: now() }))) await pause(PASS_MS);
}
