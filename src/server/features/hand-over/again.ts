import { HISTORY_MS } from '../../../contract/durations.ts';
import { maySee } from '../../../contract/withholding.ts';
import { quote, UsageError } from '../../../errors.ts';
import { type Authority, authorisedTransaction } from '../../store/accounts/authorised-transaction.ts';
import {
  findHandOver,
  HAND_OVER_ATTEMPTS_MAX,
  type HandOver,
  queueAgain,
} from '../../store/records/hand-overs.ts';

import type { Engine } from '../../store/engines/engine.ts';

/** Maximum number of failed documents that one form hands over again, about a day's; the next form takes more. */
const AGAIN_MAX = 1_000;

/** Returns the start of the period whose failed documents are shown as needing attention. */
export function failedSince(now: Date): Date {
  return new Date(now.getTime() - HISTORY_MS);
}

interface Again {
  company: string;
  /** The document's id; if omitted, all that have failed lately are meant. */
  id?: string;
  now: Date;
  by?: Authority;
}

/**
 * Hands a document over again, or all that have failed lately, and restarts the retry schedule.
 * @param again.by the authority; an operator by default.
 * @returns the number of documents.
 * @throws UsageError when the company hands no such document over, it was handed over or is being sent, it has had 100
 *   attempts, or the administrator can't see documents; also what `authorisedTransaction` throws.
 */
export async function handOverAgain(
  engine: Engine,
  { company, id, now, by = 'operator' }: Again,
): Promise<number> {
  return authorisedTransaction(engine, { company, by, now, isProofNeeded: false }, async (authorised) => {
    const { transaction } = authorised;
    if (authorised.by !== 'operator' && !maySee(authorised.by.scopes, 'invoices'))
      throw new UsageError('You have no access to documents. Ask an administrator who has it.');
    if (id !== undefined) refuseAgain(await findHandOver(transaction, company, id), id, authorised.by);
    const which = id === undefined ? { since: failedSince(now), countMax: AGAIN_MAX } : { id };
    const count = await queueAgain(transaction, company, which, now);
    if (id !== undefined && count === 0) throw beingSent(id);
    const details = id === undefined ? { documents: String(count) } : { document: id };
    if (count > 0)
      await authorised.record({ action: 'document.handed_over_again', subject: id ?? company, details });
    return count;
  });
}

function refuseAgain(found: HandOver | undefined, id: string, by: unknown): void {
  if (!found) throw new UsageError(`The company has no document ${quote(id)} to hand over.`);
  if (found.state === 'sending') throw beingSent(id);
  // An operator may know that the access point has lost the document.
  if (found.state === 'handed_over' && by !== 'operator')
    throw new UsageError(`The document ${quote(id)} has already been handed over.`);
  if (found.attemptCount >= HAND_OVER_ATTEMPTS_MAX)
    throw new UsageError(
      `The document ${quote(id)} has had ${HAND_OVER_ATTEMPTS_MAX} attempts, the most it can have.`,
    );
}

function beingSent(id: string): UsageError {
  return new UsageError(`The document ${quote(id)} is being sent. Wait for its result.`);
}
