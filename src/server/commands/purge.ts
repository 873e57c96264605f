import { setTimeout as pause } from 'node:timers/promises';

import { DAY_MS, HISTORY_MS, MINUTE_MS } from '../../contract/durations.ts';
import type { Logger } from '../process/log.ts';
import { forgetOldEntries } from '../store/accounts/audit-trail.ts';
import { purgeDeletedWebhooks, removeOld } from '../features/webhooks/deliveries/deliveries-purge.ts';
import { REQUEST_DAYS } from '../features/usage/stored-requests.ts';
import type { Engine } from '../store/engines/engine.ts';
import { settleOldHandOvers } from '../store/records/hand-overs.ts';
import { removeBefore } from '../store/stored-tables.ts';
import { notices, accountLinks, portalSessions } from '../store/tables/accounts.ts';
import { appliedChanges } from '../store/tables/feed.ts';
import { keyRequests } from '../store/tables/keys.ts';
import { webhookHours } from '../store/tables/webhooks.ts';
import { keepDoing } from '../process/repeating.ts';

/** Days for which hourly counts of attempts are kept: longer than any page looks back. */
const COUNTED_DAYS = 32;
/** Pause between two passes of a purge, so that other work gets its turn. */
const PASS_MS = 20;

/** Purges expired data every minute, until disposed of. */
export function keepPurging(
  engine: Engine,
  { now, log, changeIdDays }: { now: () => Date; log: Logger; changeIdDays: number },
): AsyncDisposable {
  const work = async (signal: AbortSignal) => {
    await purge(engine, now, signal);
    await purgeChangeIds(engine, { now, days: changeIdDays, signal });
  };
  const onError = (err: unknown) => log.warn({ err }, 'deliveries.not-purged');
  return keepDoing(work, { everyMs: MINUTE_MS, onError });
}

/**
 * Removes old deliveries, deliveries of deleted webhooks, old requests, counts and notices, ended portal sessions and links, old
 * hand-over attempts and old audit entries. Documents that nothing hands over are given up. Works in short passes.
 */
export async function purge(engine: Engine, now: () => Date, signal?: AbortSignal): Promise<void> {
  let after: string | undefined = '';
  await untilDone(signal, async () => {
    after = await removeOld(engine, new Date(now().getTime() - HISTORY_MS), after ?? '');
    return after !== undefined;
  });
  await untilDone(signal, () => purgeDeletedWebhooks(engine));
  const firstHour = new Date(now().getTime() - COUNTED_DAYS * DAY_MS).toISOString().slice(0, 13);
  for (const [table, before] of [
    [webhookHours, firstHour],
    [keyRequests, new Date(now().getTime() - REQUEST_DAYS * DAY_MS).toISOString()],
    [notices, new Date(now().getTime() - HISTORY_MS).toISOString()],
    [portalSessions, now().toISOString()],
    [accountLinks, now().toISOString()],
  ] as const)
    await untilDone(signal, () => removeBefore(engine, table, before));
  await untilDone(signal, () => settleOldHandOvers(engine, now()));
  await forgetOldEntries(engine, now());
}

/** Removes the ids of changes applied more than `days` days ago, in short passes. */
export async function purgeChangeIds(
  engine: Engine,
  { now, days, signal }: { now: () => Date; days: number; signal?: AbortSignal },
): Promise<void> {
  const before = new Date(now().getTime() - days * DAY_MS).toISOString();
  await untilDone(signal, () => removeBefore(engine, appliedChanges, before));
}

/** Repeats a pass until it returns false, meaning that nothing is left to do. */
async function untilDone(signal: AbortSignal | undefined, pass: () => Promise<boolean>): Promise<void> {
  while (!signal?.aborted && (await pass())) await pause(PASS_MS);
}
