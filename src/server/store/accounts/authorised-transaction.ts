import { MINUTE_MS } from '../../../contract/durations.ts';
import { quote, UsageError } from '../../../errors.ts';
import type { Administrator } from './administrator-rows.ts';
import { type NewAuditEntry, type Origin, recordEntry } from './audit-trail.ts';
import { lockCompany } from '../records/companies.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import { takeForm } from './sent-forms.ts';
import { findSessionOwner } from './session-rows.ts';

/** The administrator and the session of a request, as they were looked up. Both may have ended when the transaction begins. */
export interface SignedIn extends Origin {
  administrator: string;
  session: string;
  /** The form of the request, which is good once; undefined when there is no form. */
  form?: string | undefined;
}

/** An administrator whose session and account were checked in the transaction. */
export interface ActingAdministrator extends Administrator, Origin {
  session: string;
  /** Whether they proved who they are within the last ten minutes. */
  isProved: boolean;
}

const PROOF_MS = 10 * MINUTE_MS;

/** The authority for a change. An operator, at the command line, may do everything. */
export type Authority = SignedIn | 'operator';

/** A change that is asked for: in which company, on whose authority, and when. */
export interface Act<By extends Authority = Authority> {
  company: string;
  by: By;
  now: Date;
}

/** The session has ended or its administrator was removed, so nothing was done. */
export class AuthorityEndedError extends Error {
  override readonly name = 'AuthorityEndedError';
}

/** The last proof of who is signed in is too old for this change, so nothing was done; see ../../features/sign-in/proof.ts. */
export class ProofNeededError extends Error {
  override readonly name = 'ProofNeededError';
}

/** The form was used before, so nothing was done. */
export class FormUsedError extends Error {
  override readonly name = 'FormUsedError';
}

/**
 * A change to the administration of a company, such as a new key: its transaction is open, the company is locked, and the
 * authority was checked. Only `authorisedTransaction` makes one, and the store's functions for such changes take one, so
 * that none is made without the check.
 */
class AuthorisedTransaction {
  readonly engine: Engine;
  readonly company: string;
  readonly by: ActingAdministrator | 'operator';
  readonly now: Date;
  // With a private member no other object has this type.
  readonly #transaction: StoreTransaction;

  constructor(
    engine: Engine,
    transaction: StoreTransaction,
    authorised: Pick<AuthorisedTransaction, 'company' | 'by' | 'now'>,
  ) {
    this.engine = engine;
    this.#transaction = transaction;
    this.company = authorised.company;
    this.by = authorised.by;
    this.now = authorised.now;
  }

  get transaction(): StoreTransaction {
    return this.#transaction;
  }

  async record(entry: Pick<NewAuditEntry, 'action' | 'subject' | 'details'>): Promise<void> {
    await recordEntry(this.#transaction, { ...entry, company: this.company, by: this.by, now: this.now });
  }
}

export type { AuthorisedTransaction };

/**
 * Makes a change on somebody's authority, all or nothing. The company is locked, so its changes are made one after the
 * other. Then the session and the administrator are looked up anew, because both may have ended since the request came
 * in. Their password or second factor was given within the last ten minutes, so that a session that was stolen later
 * changes nothing. `work` checks by `authorised.by` whether the administrator may make this change, and throws its refusal.
 * @param options.isProofNeeded false for what changes neither access nor what is sent where.
 * @throws UsageError when there is no such company; ProofNeededError when the last proof is older; AuthorityEndedError when
 *   the session has ended or expired, or its administrator was removed; FormUsedError when the form was used before; the
 *   errors of `work`. Nothing is changed then.
 */
export async function authorisedTransaction<T>(
  engine: Engine,
  { company, by, now, isProofNeeded = true }: Act & { isProofNeeded?: boolean },
  work: (authorised: AuthorisedTransaction) => Promise<T>,
): Promise<T> {
  return engine.transaction(async (transaction) => {
    if (!(await lockCompany(transaction, company)))
      throw new UsageError(`There is no company ${quote(company)}.`);
    const actor = by === 'operator' ? by : await actingAdministrator(transaction, company, by, now);
    if (isProofNeeded && actor !== 'operator' && !actor.isProved)
      throw new ProofNeededError('The last proof of who is signed in is too old.');
    if (by !== 'operator' && by.form !== undefined) {
      const isFirst = await takeForm(
        transaction,
        { company, session: by.session, form: by.form },
        now.toISOString(),
      );
      if (!isFirst) throw new FormUsedError('The form was sent before.');
    }
    return work(new AuthorisedTransaction(engine, transaction, { company, by: actor, now }));
  });
}

async function actingAdministrator(
  transaction: StoreTransaction,
  company: string,
  { administrator, session, address, client }: SignedIn,
  now: Date,
): Promise<ActingAdministrator> {
  const found = await findSessionOwner(transaction, { company, session }, now.toISOString());
  if (found?.id !== administrator)
    throw new AuthorityEndedError('The session has ended, or its administrator was removed.');
  const { provedAt, ...owner } = found;
  const isProved = provedAt >= new Date(now.getTime() - PROOF_MS).toISOString();
  return { ...owner, session, address, client, isProved };
}
