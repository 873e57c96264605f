import type { TimedDelivery } from '../store/deliveries/deliveries.ts';
import type { DeliveryResult, KeptAttempt } from '../store/deliveries/deliveries-results.ts';
import type { AttemptError } from './attempt-errors.ts';
import type { AttemptResult } from './sender.ts';

/** The ending of an attempt that made no request, or whose worker ended meanwhile. */
export function endingWithout(error: AttemptError, totalMs: number): AttemptResult {
  return { status: null, error, phases: { dns: null, connect: null, tls: null, firstByte: null }, totalMs };
}

/** A delivery whose attempt has ended. */
type Attempted = Pick<
  TimedDelivery,
  'company' | 'webhook' | 'id' | 'attempt' | 'failureCount' | 'interruptionCount' | 'dueAt'
> & { lease: string };

interface Times {
  attemptedAt: Date;
  endedAt: Date;
  random: () => number;
}

/** The new state of a delivery after an attempt: delivered, retrying by the schedule, or failed for good. */
export function resultOf(delivery: Attempted, ending: AttemptResult, times: Times): DeliveryResult {
  if (isDelivered(ending)) return keptResult(delivery, 'delivered', ending, times);
  const failureCount = delivery.failureCount + 1;
  const nextAt = nextAttemptAt(failureCount, times.endedAt, times.random);
  const state = nextAt ? 'retrying' : 'failed';
  return keptResult({ ...delivery, failureCount }, state, ending, times, nextAt);
}

/** Whether the receiver has the delivery now (openapi.yaml, "Answer"). */
export function isDelivered({ status }: AttemptResult): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** After so many interrupted attempts the schedule is followed. */
const INTERRUPTIONS_MAX = 3;

/**
 * The new state of a delivery whose worker let its lease run out. It is retried at once, because its receiver did
 * nothing wrong. After several times the delivery itself may be the reason, and it waits as after any failure.
 */
export function resultOfInterruption(delivery: Attempted, times: Times): DeliveryResult {
  // Its true length isn't known. The lease's length stands for it, not the weeks that may have passed since.
  const ending = endingWithout('interrupted', Date.parse(delivery.dueAt) - times.attemptedAt.getTime());
  const interruptionCount = delivery.interruptionCount + 1;
  if (interruptionCount >= INTERRUPTIONS_MAX) return resultOf(delivery, ending, times);
  const result = keptResult(delivery, 'waiting', ending, times, times.endedAt);
  return { ...result, interruptionCount };
}

function keptResult(
  delivery: Attempted,
  state: DeliveryResult['state'],
  { status, error, phases, totalMs }: AttemptResult,
  { attemptedAt }: Times,
  nextAt?: Date,
): DeliveryResult {
  const attempt: KeptAttempt = {
    number: delivery.attempt,
    attemptedAt: attemptedAt.toISOString(),
    status,
    error,
    phases,
    totalMs,
    nextAttemptAt: nextAt?.toISOString() ?? null,
  };
  return {
    ...unsentResult(delivery, state, nextAt?.toISOString() ?? delivery.dueAt),
    failureCount: delivery.failureCount,
    attempt,
  };
}

/** The new state of a delivery that was leased and not sent. */
export function unsentResult(
  delivery: Omit<Attempted, 'attempt' | 'interruptionCount'>,
  state: DeliveryResult['state'],
  dueAt: string,
  withheldFor: string | null = null,
): DeliveryResult {
  const { company, webhook, id, lease, failureCount } = delivery;
  const key = { company, webhook, id, lease };
  return { ...key, state, dueAt, failureCount, interruptionCount: 0, withheldFor, attempt: undefined };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Time from an attempt that failed to the next one (openapi.yaml, "Retries"). */
const DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS] as const;

/** The largest random part of a delay: after an outage the retries of an hour don't all come in the same second. */
const JITTER = 0.1;

/**
 * When a delivery is retried; undefined when it has failed for good.
 * @param failureCount attempts of this schedule that have failed, the last one included.
 * @param endedAt when the last one ended. It never gets less time than the schedule says.
 * @param random a number from 0 up to 1.
 */
export function nextAttemptAt(failureCount: number, endedAt: Date, random: () => number): Date | undefined {
  const delayMs = DELAYS_MS[failureCount - 1];
  if (delayMs === undefined) return undefined;
  return new Date(endedAt.getTime() + Math.ceil(delayMs * (1 + JITTER * random())));
}
