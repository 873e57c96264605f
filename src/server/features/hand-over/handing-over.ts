import { randomUUID } from 'node:crypto';

import { HOUR_MS, MINUTE_MS } from '../../../contract/durations.ts';
import { findEInvoice } from '../../invoice-pdf/stored-e-invoice.ts';
import type { Logger } from '../../process/log.ts';
import { type DueKey, listDue } from '../../store/due-rows.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { type HandOver, leaseHandOver, settleHandOver } from '../../store/records/hand-overs.ts';
import { nextAttemptAt } from '../webhooks/deliveries/attempt.ts';
import { inLanes } from '../../sending/repeating.ts';
import { millisecondsSince } from '../../sending/sender.ts';
import type { AccessPoint, Handed, Taking } from './access-point.ts';

export interface HandOverMeans {
  engine: Engine;
  accessPoint: AccessPoint;
  log: Logger;
  now: () => Date;
  random?: () => number;
}

/** Documents of one pass. */
const DOCUMENTS_MAX = 20;
/** Three times what an attempt can take, with the making of its text: another worker takes over only what was abandoned. */
const LEASE_MS = MINUTE_MS;
/** As large as a delivery may be. */
const TEXT_BYTES_MAX = 10_000_000;
/** The longest wait that an access point may ask for: as long as the longest of the schedule. */
const RETRY_AFTER_MS_MAX = 12 * HOUR_MS;

/**
 * Hands over the documents that are due, a few at a time. Any number of processes share the work. A document comes twice, with
 * the same key, only where the outcome isn't kept: the process ends before, or the database is away.
 */
export async function handOverDocuments(means: HandOverMeans, signal?: AbortSignal): Promise<void> {
  const { engine, accessPoint, log, now } = means;
  const due = await listDue(engine, 'hand_overs', now(), DOCUMENTS_MAX);
  const onError = (err: unknown, { company, id }: DueKey) =>
    log.warn({ company, document: id, err }, 'document.not-handed-over');
  await inLanes(due, { atOnce: accessPoint.atOnce, signal, onError }, (key) => handOver(key, means));
}

async function handOver({ company, id }: DueKey, means: HandOverMeans): Promise<void> {
  const { engine, accessPoint, log, now, random = Math.random } = means;
  const [lease, at] = [randomUUID(), now()];
  const until = new Date(at.getTime() + LEASE_MS);
  const leased = await leaseHandOver(engine, { company, id }, { lease, now: at, until });
  if (!leased) return;
  const startedAt = performance.now();
  let taking: Taking;
  try {
    const handed = await read(engine, leased);
    if (!handed) {
      await settleHandOver(engine, leased, lease, { state: 'failed', problem: 'no_e_invoice', dueAt: at });
      return;
    }
    taking = await accessPoint.take(handed);
  } catch (err) {
    log.error({ company, document: id, err }, 'document.not-readable');
    taking = { problem: 'internal' };
  }
  const { problem = null, answer } = taking;
  const endedAt = now();
  const next = problem === null ? undefined : nextTry(leased, taking, endedAt, random);
  const state = problem === null ? 'handed_over' : next ? 'waiting' : 'failed';
  const ms = millisecondsSince(startedAt);
  const attempt = { at: at.toISOString(), ms, problem, answer, nextAt: next?.toISOString() };
  await settleHandOver(engine, leased, lease, { state, problem, dueAt: next ?? endedAt, attempt });
  const line = { company, document: id, attempt: leased.attemptCount, state, problem, next, ms };
  log[state === 'failed' ? 'warn' : 'info'](line, 'document.handed-over');
}

/** The document with its UBL; undefined where it has none. The text follows from what was kept at the issue. */
async function read(engine: Engine, { company, id, attemptCount }: HandOver): Promise<Handed | undefined> {
  const found = await findEInvoice(engine, company, id);
  if (!found || found.absence !== undefined) return undefined;
  const text = found.text('ubl');
  const byteCount = Buffer.byteLength(text);
  if (byteCount > TEXT_BYTES_MAX)
    throw new Error(`The e-invoice has ${byteCount} bytes, and may have ${TEXT_BYTES_MAX}.`);
  return { company, id, number: found.name, text, attempt: attemptCount };
}

/** When a document is tried again: as deliveries are, and not before the access point wants it; undefined when it has failed. */
function nextTry(
  { failureCount }: HandOver,
  { retryAfterSeconds = 0 }: Taking,
  now: Date,
  random: () => number,
): Date | undefined {
  const next = nextAttemptAt(failureCount + 1, now, random);
  const askedMs = now.getTime() + Math.min(retryAfterSeconds * 1_000, RETRY_AFTER_MS_MAX);
  return next && new Date(Math.max(next.getTime(), askedMs));
}
