import { HOUR_MS, MINUTE_MS } from '../../contract/durations.ts';

/** Milliseconds between each failed attempt and the next (openapi.yaml, "Retries"). */
const DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS] as const;

/** Maximum share of a delay that is randomly added to it, to spread retries after an outage. */
const JITTER = 0.1;

/**
 * Returns the time of the next attempt to send a delivery, mail or document; undefined when it has failed for good.
 * @param failureCount number of failed attempts of this schedule, including the last one.
 * @param endedAt when the last attempt ended. The delay is never shorter than the schedule says.
 * @param random returns a number from 0 up to 1.
 */
export function nextAttemptAt(failureCount: number, endedAt: Date, random: () => number): Date | undefined {
  const delayMs = DELAYS_MS[failureCount - 1];
  if (delayMs === undefined) return undefined;
  return new Date(endedAt.getTime() + Math.ceil(delayMs * (1 + JITTER * random())));
}
