import { quote, UsageError } from '../errors.ts';
import type { Administrator } from './administrators.ts';
import { type NewAuditEntry, type Origin, recordEntry } from './audit.ts';
import { lockCompany } from './companies.ts';
import type { Engine, StoreTransaction } from './engine.ts';
import { takeForm } from './form-results.ts';
import { findSessionOwner } from './portal-sessions.ts';

/** Whose browser a deed is asked for by, as a look-up has found it. It may be out of date once the deed is done. */
export interface SignedIn extends Origin {
  administrator: string;
  session: string;
  /** The form that asks for it, which is good for one deed; undefined for what no form asks for. */
  form?: string | undefined;
}

/** An administrator who acts: their session and their account were looked at in the unit of work of the deed. */
export interface ActingAdministrator extends Administrator, Origin {
  session: string;
}

/** On whose authority something is done. An operator, who is at the command line, may do everything. */
export type Authority = SignedIn | 'operator';

/** The session or its administrator is no more, so nothing was done. */
export class AuthorityEndedError extends Error {
  override readonly name = 'AuthorityEndedError';
}

/** The form was used for a deed before, so nothing was done. */
export class FormUsedError extends Error {
  override readonly name = 'FormUsedError';
}

/**
 * Something that is done to how a company is administered, while its unit of work is open, the company is locked, and
 * whoever does it was found to have the right to. Only `doDeed` makes one: what the store changes on somebody's
 * authority takes a deed, so that nothing is done without the check.
 */
class Deed {
  readonly engine: Engine;
  readonly company: string;
  readonly by: ActingAdministrator | 'operator';
  readonly now: Date;
  // A private member makes the type one that no other object has.
  readonly #transaction: StoreTransaction;

  constructor(engine: Engine, transaction: StoreTransaction, deed: Pick<Deed, 'company' | 'by' | 'now'>) {
    this.engine = engine;
    this.#transaction = transaction;
    this.company = deed.company;
    this.by = deed.by;
    this.now = deed.now;
  }

  get transaction(): StoreTransaction {
    return this.#transaction;
  }

  /** Tells the audit trail what is done. */
  async record(entry: Pick<NewAuditEntry, 'action' | 'subject' | 'details'>): Promise<void> {
    await recordEntry(this.#transaction, { ...entry, company: this.company, by: this.by, now: this.now });
  }
}

export type { Deed };

/**
 * Does something on somebody's authority, all or nothing. The company is locked, so deeds on it are done one after the
 * other; then session and administrator are looked up anew, because either may have ended since the request came. What
 * the administrator may do is for `work` to check, by `deed.by`; what it refuses it throws, so that the form can be
 * filled in again.
 * @throws UsageError when there is no such company; AuthorityEndedError when the session has ended or run out, or its
 *   administrator was removed; FormUsedError when the form has done its deed; whatever `work` throws. Nothing is done
 *   then.
 */
export async function doDeed<T>(
  engine: Engine,
  { company, by, now }: { company: string; by: Authority; now: Date },
  work: (deed: Deed) => Promise<T>,
): Promise<T> {
  return engine.transaction(async (transaction) => {
    if (!(await lockCompany(engine, transaction, company)))
      throw new UsageError(`There is no company ${quote(company)}.`);
    const actor = by === 'operator' ? by : await actingAdministrator(transaction, company, by, now);
    if (by !== 'operator' && by.form !== undefined) {
      const isFirst = await takeForm(transaction, { ...by, form: by.form }, now.toISOString());
      if (!isFirst) throw new FormUsedError('The form was sent before.');
    }
    return work(new Deed(engine, transaction, { company, by: actor, now }));
  });
}

async function actingAdministrator(
  transaction: StoreTransaction,
  company: string,
  { administrator, session, address, client }: SignedIn,
  now: Date,
): Promise<ActingAdministrator> {
  const owner = await findSessionOwner(transaction, session, now.toISOString());
  if (!owner || owner.id !== administrator || owner.company !== company)
    throw new AuthorityEndedError('The session has ended, or its administrator was removed.');
  return { ...owner, session, address, client };
}
