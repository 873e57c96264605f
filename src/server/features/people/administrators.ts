import { quote, UsageError } from '../../../errors.ts';
import { canonicalEmail } from '../../access/checked-input.ts';
import {
  type Administrator,
  findAccount,
  listAdministratorRows,
  updateAdministratorRow,
} from '../../store/accounts/administrator-rows.ts';
import { type Act, authorisedTransaction } from '../../store/accounts/authorised-transaction.ts';
import { deleteLinksOf } from '../../store/accounts/link-rows.ts';
import { deleteSessionRows } from '../../store/accounts/session-rows.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { getCompany } from '../../store/records/companies.ts';
import { revokeIn } from '../keys/keys.ts';
import { type ApiKey, listKeysMadeBy } from '../keys/stored-keys.ts';
import { getOther } from './change-access.ts';

/**
 * Lists a company's administrators, former ones included, oldest first.
 * @throws UsageError when there is no such company.
 */
export async function listAdministrators(engine: Engine, company: string): Promise<Administrator[]> {
  await getCompany(engine, company);
  return listAdministratorRows(engine.db, company);
}

/**
 * Removes an administrator's access at once, ending their sessions and the links that they made. Their webhooks stay, and so
 * do their keys, except those listed in `revoke`. An administrator needs the right to invite to remove others and can't
 * remove themselves, so a company always keeps one who may invite, even when two remove each other at once. An operator may
 * remove the last one.
 * @param options.revoke ids of keys that they made, which are revoked too.
 * @returns the removed administrator, and the keys that they had made: those revoked now, and those that keep working.
 * @throws AppError `not_found` when the company has no such administrator; UsageError when `by` may not remove them; the
 *   errors of `authorisedTransaction`.
 */
export async function removeAdministrator(
  engine: Engine,
  options: Act & { id: string; revoke?: 'all' | readonly string[] },
): Promise<{ administrator: Administrator; revoked: ApiKey[]; left: ApiKey[] }> {
  const { company, id, now, revoke = [] } = options;
  return authorisedTransaction(engine, options, async (authorised) => {
    const { transaction } = authorised;
    const administrator = await getOther(authorised, id);
    const ended = { disabledAt: now.toISOString(), secondFactor: null };
    await updateAdministratorRow(transaction, administrator, ended);
    await deleteSessionRows(transaction, administrator);
    await deleteLinksOf(transaction, 'made_by', administrator);
    await deleteLinksOf(transaction, 'administrator', administrator);
    // An open invitation would let them in again.
    await deleteLinksOf(transaction, 'email', { company, id: administrator.email });
    await authorised.record({
      action: 'administrator.removed',
      subject: id,
      details: { name: administrator.name, email: administrator.email },
    });
    const keys = await listKeysMadeBy(authorised, id);
    const revoked = keys.filter((key) => revoke === 'all' || revoke.includes(key.id));
    for (const key of revoked) await revokeIn(authorised, key.id);
    const left = keys.filter((key) => !revoked.includes(key));
    return { administrator: { ...administrator, disabledAt: now.toISOString() }, revoked, left };
  });
}

/**
 * Takes away the second factor of an administrator who has lost it, and ends their sessions. Both are told.
 * @throws AppError `not_found` when the company has no such administrator; UsageError when `by` may not change them or they
 *   have no second factor; the errors of `authorisedTransaction`.
 */
export async function resetSecondFactor(
  engine: Engine,
  options: Act & { id: string },
): Promise<Administrator> {
  return authorisedTransaction(engine, options, async (authorised) => {
    const administrator = await getOther(authorised, options.id);
    const { id, name, email, hasSecondFactor } = administrator;
    if (!hasSecondFactor) throw new UsageError(`${name} has no second factor.`);
    await updateAdministratorRow(authorised.transaction, administrator, { secondFactor: null });
    await deleteSessionRows(authorised.transaction, administrator);
    await authorised.record({ action: 'second_factor.reset', subject: id, details: { name, email } });
    return administrator;
  });
}

/**
 * Ends all of an administrator's sessions. Only an operator can do this.
 * @returns the number of sessions that ended.
 * @throws UsageError when nobody of that email address administers the company.
 */
export async function signOutEverywhere(
  engine: Engine,
  { company, email, now }: { company: string; email: string; now: Date },
): Promise<number> {
  return authorisedTransaction(engine, { company, by: 'operator', now }, async (authorised) => {
    const { id } = await getByEmail(authorised.transaction, company, email);
    await authorised.record({ action: 'administrator.signed_out', subject: id, details: { email } });
    return deleteSessionRows(authorised.transaction, { company, id });
  });
}

/**
 * Finds a company's administrator by email address.
 * @throws UsageError when no administrator of the company has that address.
 */
export async function getByEmail(db: Connection, company: string, email: string): Promise<Administrator> {
  const account = await findAccount(db, { company, email: canonicalEmail(email) });
  if (account) return account.administrator;
  throw new UsageError(`The company ${quote(company)} has no administrator ${quote(email)}.`);
}
