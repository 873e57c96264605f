import { HOUR_MS, MINUTE_MS } from '../../contract/durations.ts';

/** Time from an attempt that failed to the next one (openapi.yaml, "Retries"). */
const DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS] as const;

/** The largest random part of a delay, which spreads retries after an outage. */
const JITTER = 0.1;

/**
 * When a delivery, a mail or a document is tried again; undefined when it has failed for good.
 * @param failureCount attempts of this schedule that have failed, the last one included.
 * @param endedAt when the last one ended. It never gets less time than the schedule says.
 * @param random a number from 0 up to 1.
 */
export function nextAttemptAt(failureCount: number, endedAt: Date, random: () => number): Date | undefined {
  const delayMs = DELAYS_MS[failureCount - 1];
  if (delayMs === undefined) return undefined;
  return new Date(endedAt.getTime() + Math.ceil(delayMs * (1 + JITTER * random())));
}
