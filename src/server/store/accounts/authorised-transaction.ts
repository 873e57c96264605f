import { MINUTE_MS } from '../../../contract/durations.ts';
import { quote, UsageError } from '../../../errors.ts';
import type { Administrator } from './administrator-rows.ts';
import { type NewAuditEntry, type Origin, recordEntry } from './audit-trail.ts';
import { lockCompany } from '../records/companies.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import { takeForm } from './sent-forms.ts';
import { findSessionOwner } from './session-rows.ts';

/** The administrator and session of a request, as looked up when it arrived. The transaction checks both again. */
export interface SignedIn extends Origin {
  administrator: string;
  session: string;
  /** The token of the submitted form, which can be used only once; undefined for a change without a form. */
  form?: string | undefined;
}

/** An administrator whose session and account were checked within the transaction. */
export interface ActingAdministrator extends Administrator, Origin {
  session: string;
  /** Whether the administrator has proved their identity within the last ten minutes. */
  isProved: boolean;
}

const PROOF_MS = 10 * MINUTE_MS;

/** The authority for a change: an administrator's session, or an operator at the command line, who is allowed everything. */
export type Authority = SignedIn | 'operator';

/** The company, authority and time of a requested change. */
export interface Act<By extends Authority = Authority> {
  company: string;
  by: By;
  now: Date;
}

/** Error for a change whose session has ended or whose administrator was removed; nothing was changed. */
export class AuthorityEndedError extends Error {
  override readonly name = 'AuthorityEndedError';
}

/** Error for a change that needs a newer proof of identity; nothing was changed. See ../../features/sign-in/proof.ts. */
export class ProofNeededError extends Error {
  override readonly name = 'ProofNeededError';
}

/** Error for a form that was already submitted; nothing was changed. */
export class FormUsedError extends Error {
  override readonly name = 'FormUsedError';
}

/**
 * An open transaction for an administrative change, such as a new key: the company is locked, and the authority was checked.
 * Only `authorisedTransaction` creates one, and the store's functions for such changes require one, so that no change skips
 * the check.
 */
class AuthorisedTransaction {
  readonly engine: Engine;
  readonly company: string;
  readonly by: ActingAdministrator | 'operator';
  readonly now: Date;
  // The private member prevents any other object from having this type.
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

  async record(entry: Omit<NewAuditEntry, 'company' | 'by' | 'now'>): Promise<void> {
    await recordEntry(this.#transaction, { ...entry, company: this.company, by: this.by, now: this.now });
  }
}

export type { AuthorisedTransaction };

/**
 * Runs `work` as one atomic administrative change and returns its result. It locks the company, so that its changes are
 * serial. Then it looks up the session and the administrator again, because both may have ended since the request arrived.
 * The password or second factor must have been given within the last ten minutes, so that a session stolen later can't change
 * anything. `work` checks from `authorised.by` whether the administrator is allowed this change, and throws if not.
 * @param options.isProofNeeded false for changes that affect neither access nor where data is sent.
 * @throws UsageError when there is no such company; ProofNeededError when the last proof is too old; AuthorityEndedError when
 * the session has ended or expired, or its administrator was removed; FormUsedError when the form was already used; any error
 * of `work`. Nothing is changed then.
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
