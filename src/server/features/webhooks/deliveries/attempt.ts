import { deliveryRequest } from '../../../../contract/delivery-request.ts';
import { moduleOfEvent } from '../../../../contract/events.ts';
import { traceIdOfDelivery } from '../../../../contract/trace-context.ts';
import { whyWithheld } from '../../../../contract/withholding.ts';
import { UsageError } from '../../../../errors.ts';
import type { Logger } from '../../../process/log.ts';
import type { DeliveryMetrics } from '../../../process/metrics.ts';
import type { LeasedDelivery, TimedDelivery } from './lease.ts';
import type { DeliveryResult } from './results.ts';
import { keptAnswer } from '../../../sending/answer-text.ts';
import type { AttemptError } from '../../../sending/attempt-errors.ts';
import type { SecretBox } from '../../../process/secret-box.ts';
import { nextAttemptAt } from '../../../sending/schedule.ts';
import { type AttemptResult, millisecondsSince, type Sender } from '../../../sending/sender.ts';

export interface AttemptMeans {
  sender: Sender;
  secrets: SecretBox;
  serviceName: string;
  log: Logger;
  metrics: DeliveryMetrics;
  now: () => Date;
  random: () => number;
}

type Attempted = Pick<LeasedDelivery, 'company' | 'webhook' | 'id' | 'lease' | 'attempt' | 'failureCount'> & {
  dueAt: string;
};

/** Delay before a delivery that can't be signed is tried again. */
const HELD_MS = 600_000;

/**
 * Makes one attempt of a delivery, if it may be sent now. It never rejects.
 * @returns the new state of the delivery.
 */
export async function makeAttempt(
  delivery: LeasedDelivery & Attempted,
  means: AttemptMeans,
): Promise<DeliveryResult> {
  const { log, metrics } = means;
  const { company, webhook, id, kind, attempt, dueAt } = delivery;
  const attemptedAt = means.now();
  const startedAt = performance.now();
  let answer: AttemptResult;
  try {
    const unsent = resultWithoutSending(delivery, attemptedAt);
    if (unsent) return unsent;
    if (attempt === 1) metrics.firstAttempted((attemptedAt.getTime() - Date.parse(dueAt)) / 1000);
    answer = await send(delivery, attemptedAt, means);
  } catch (error) {
    // A request that can't be made counts as a failed attempt.
    log.error({ company, webhook, delivery: id, err: error }, 'delivery.not-sent');
    // A UsageError means that the secret is damaged, or was sealed with another key.
    if (error instanceof UsageError)
      return {
        ...settled(delivery, 'retrying'),
        dueAt: new Date(attemptedAt.getTime() + HELD_MS).toISOString(),
      };
    answer = withoutAnswer('internal', millisecondsSince(startedAt));
  }
  const result = resultOf(delivery, { answer, attemptedAt }, means);
  const { status, error, phases, totalMs } = answer;
  metrics.attempted(result.state, totalMs / 1000);
  log.info(
    {
      ...{ company, webhook, delivery: id, event: kind, attempt, status, error },
      ...{ traceId: traceIdOfDelivery(id), phases, ms: totalMs, next: result.attempt?.nextAttemptAt },
    },
    'delivery.attempted',
  );
  return { ...result, isTest: delivery.isTest };
}

/** Returns the result of a delivery that must not be sent now; undefined for one that can be sent. */
function resultWithoutSending(delivery: LeasedDelivery & Attempted, now: Date): DeliveryResult | undefined {
  const { dueAt, attempt, kind, switches, isWebhookPaused, isWebhookDeleted } = delivery;
  // The webhook was paused after this worker had found the delivery.
  if (isWebhookPaused && !isWebhookDeleted) return settled(delivery, 'waiting');
  // The clock was set back, so the retry is no longer due. First attempts have no due time.
  if (attempt > 1 && Date.parse(dueAt) > now.getTime()) return settled(delivery, 'retrying');
  const withheldFor = isWebhookDeleted ? 'webhook_deleted' : whyWithheld(switches, moduleOfEvent(kind));
  return withheldFor && { ...settled(delivery, 'withheld'), withheldFor };
}

async function send(
  delivery: LeasedDelivery,
  at: Date,
  { serviceName, secrets, sender }: AttemptMeans,
): Promise<AttemptResult> {
  const { company, webhook, kind: event, url } = delivery;
  const secret = secrets.open(delivery.secret, { company, id: webhook });
  const { body, headers } = deliveryRequest({ ...delivery, event }, { serviceName, secret, at });
  const { answerText, ...answer } = await sender.send({ url, headers, body });
  return answerText === undefined ? answer : { ...answer, answerText: keptAnswer(answerText, secret) };
}

/** Returns the new state of a delivery after an attempt: delivered, retrying by the schedule, or failed for good. */
function resultOf(
  delivery: Attempted,
  { answer, attemptedAt }: Ended,
  { now, random }: Pick<AttemptMeans, 'now' | 'random'>,
): DeliveryResult {
  // Any 2xx status (openapi.yaml, "Answer").
  if (answer.status !== null && answer.status >= 200 && answer.status < 300)
    return settled(delivery, 'delivered', { answer, attemptedAt });
  const failureCount = delivery.failureCount + 1;
  const nextAt = nextAttemptAt(failureCount, now(), random);
  return {
    ...settled(delivery, nextAt ? 'retrying' : 'failed', { answer, attemptedAt, nextAt }),
    failureCount,
  };
}

/** Number of interrupted attempts from which the retry schedule applies. */
const INTERRUPTIONS_MAX = 3;

/**
 * Returns the new state of a delivery whose lease ran out. It is retried at once, because its receiver did nothing wrong.
 * After several interruptions the delivery itself may be the cause, so it waits as after a failure.
 * @param leaseMs used as the duration of the attempt, which isn't known.
 */
export function interruptedResult(
  delivery: Attempted & Pick<TimedDelivery, 'interruptionCount'>,
  leaseMs: number,
  means: Pick<AttemptMeans, 'now' | 'random'>,
): DeliveryResult {
  const attemptedAt = new Date(Date.parse(delivery.dueAt) - leaseMs);
  const ended = { answer: withoutAnswer('interrupted', leaseMs), attemptedAt };
  const interruptionCount = delivery.interruptionCount + 1;
  if (interruptionCount >= INTERRUPTIONS_MAX) return resultOf(delivery, ended, means);
  return { ...settled(delivery, 'waiting', { ...ended, nextAt: means.now() }), interruptionCount };
}

/** Returns the result of an attempt that made no request, or whose worker ended meanwhile. */
function withoutAnswer(error: AttemptError, totalMs: number): AttemptResult {
  return { status: null, error, phases: { dns: null, connect: null, tls: null, firstByte: null }, totalMs };
}

interface Ended {
  answer: AttemptResult;
  attemptedAt: Date;
  nextAt?: Date | undefined;
}

function settled(delivery: Attempted, state: DeliveryResult['state'], ended?: Ended): DeliveryResult {
  const { company, webhook, id, lease, failureCount, attempt: number } = delivery;
  const nextAttemptAt = ended?.nextAt?.toISOString() ?? null;
  return {
    ...{ company, webhook, id, lease, state, failureCount },
    dueAt: nextAttemptAt ?? delivery.dueAt,
    interruptionCount: 0,
    withheldFor: null,
    attempt: ended && {
      ...ended.answer,
      ...{ number, attemptedAt: ended.attemptedAt.toISOString(), nextAttemptAt },
    },
  };
}
