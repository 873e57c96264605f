import { HOUR_MS, MINUTE_MS } from '../../../contract/durations.ts';
import { findEInvoice } from '../../invoice-pdf/stored-e-invoice.ts';
import type { Logger } from '../../process/log.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { type Outbox, sendDue } from '../../store/outbox.ts';
import { findCompanyRow } from '../../store/records/companies.ts';
import {
  HAND_OVER_ATTEMPTS_MAX,
  type HandOver,
  keepAttempt,
  toHandOver,
} from '../../store/records/hand-overs.ts';
import { nextAttemptAt } from '../../sending/schedule.ts';
import type { AccessPoint, DocumentToHandOver, Taking } from './access-point.ts';

export interface HandOverMeans {
  engine: Engine;
  accessPoint: AccessPoint;
  log: Logger;
  now: () => Date;
  random?: () => number;
}

/** Lease of a document: three times the longest attempt, including the making of its text. */
const LEASE_MS = MINUTE_MS;
/** Maximum size of an e-invoice in bytes, the same as for a webhook delivery. */
const TEXT_BYTES_MAX = 10_000_000;
/** Longest wait that an access point can ask for, equal to the longest delay of the schedule. */
const RETRY_AFTER_MS_MAX = 12 * HOUR_MS;
/** Problem code for a document that can't be expressed as an e-invoice. */
export const NO_E_INVOICE = 'no_e_invoice';

/** Hands over the documents that are due; see `sendDue`. A document that is sent twice has the same idempotency key. */
export async function handOverDocuments(means: HandOverMeans, signal?: AbortSignal): Promise<void> {
  await sendDue(handOverOutbox(means), means, signal);
}

function handOverOutbox({
  engine,
  accessPoint,
  log,
  random = Math.random,
}: HandOverMeans): Outbox<'hand_overs', HandOver, Taking> {
  return {
    ...{ queue: 'hand_overs', sent: 'handed_over', atOnce: accessPoint.atOnce, leaseMs: LEASE_MS },
    prepare: prepareHandOver,
    attempt: async (handOver) => {
      try {
        const handed = await read(engine, handOver);
        return handed ? await accessPoint.take(handed) : { problem: NO_E_INVOICE };
      } catch (err) {
        log.error({ company: handOver.company, document: handOver.id, err }, 'document.not-readable');
        return { problem: 'internal' };
      }
    },
    nextTry: (handOver, taking, now) => nextTry(handOver, taking, now, random),
    settle: async (transaction, handOver, { outcome: { answer }, problem, at, ms, next }) => {
      const attempt = { at: at.toISOString(), ms, problem, answer, nextAt: next?.toISOString() };
      if (problem !== NO_E_INVOICE) await keepAttempt(transaction, handOver, attempt);
    },
    lines: { attempted: 'document.handed-over', failed: 'document.not-handed-over' },
    describe: ({ id, attemptCount }) => ({ document: id, attempt: attemptCount }),
  };
}

/** Withholds a document whose company hands nothing over any more, and marks one failed that has had all its attempts. */
export const prepareHandOver: Outbox<'hand_overs', HandOver, Taking>['prepare'] = async (
  transaction,
  row,
) => {
  const company = await findCompanyRow({ db: transaction }, row.company);
  if (!company?.handOver) return { state: 'withheld', problem: 'hand_over_off' };
  if (row.attempt_count >= HAND_OVER_ATTEMPTS_MAX) return { state: 'failed', problem: 'interrupted' };
  return { state: 'sending', item: { ...toHandOver(row), attemptCount: row.attempt_count + 1 } };
};

/** Reads a document with its UBL; undefined if it has none. The text is made from data stored at issue. */
async function read(
  engine: Engine,
  { company, id, attemptCount }: HandOver,
): Promise<DocumentToHandOver | undefined> {
  const found = await findEInvoice(engine, company, id);
  if (!found || found.absence !== undefined) return undefined;
  const text = found.text('ubl');
  const byteCount = Buffer.byteLength(text);
  if (byteCount > TEXT_BYTES_MAX)
    throw new Error(`The e-invoice has ${byteCount} bytes, and may have ${TEXT_BYTES_MAX}.`);
  return { company, id, number: found.name, text, attempt: attemptCount };
}

/** Returns when to retry: as deliveries, but no sooner than the access point asks; undefined when the document has failed. */
function nextTry(
  { failureCount }: HandOver,
  { problem, retryAfterSeconds = 0 }: Taking,
  now: Date,
  random: () => number,
): Date | undefined {
  if (problem === NO_E_INVOICE) return undefined;
  const next = nextAttemptAt(failureCount + 1, now, random);
  const askedMs = now.getTime() + Math.min(retryAfterSeconds * 1_000, RETRY_AFTER_MS_MAX);
  return next && new Date(Math.max(next.getTime(), askedMs));
}
