import { UsageError } from '../../errors.ts';
import type { Engine, StoreTransaction } from '../store/engines/engine.ts';
import { type Account, findAccounts, NO_PASSWORD } from '../store/accounts/administrator-rows.ts';
import type { SignedIn } from '../store/accounts/authorised-transaction.ts';
import { lockCompany } from '../store/records/companies.ts';
import { isPassword } from './passwords.ts';
import type { SignInLimits } from './sign-in-limits.ts';

/** Throws if the password was changed since it was checked. An authorised transaction calls it first. */
export type StillProved = (transaction: StoreTransaction) => Promise<void>;

/**
 * Checks the password of an administrator who is signed in, before an act that a stolen session must not do.
 * @returns the account, and the check that the act repeats in its transaction.
 * @throws UsageError of the field `present` when it is wrong; AppError `rate_limited` after too many attempts.
 */
export async function provePassword(
  engine: Engine,
  limits: SignInLimits,
  { company, by, present }: { company: string; by: SignedIn; present: string },
): Promise<{ account: Account; stillProved: StillProved }> {
  const wrong = new UsageError('Your present password is not right.', { field: 'present' });
  const [account] = await findAccounts(engine.db, { company, id: by.administrator });
  if (!account) throw wrong;
  if (account.password === NO_PASSWORD)
    throw new UsageError(
      'You have no password here. The operator of this service can sign you out everywhere.',
    );
  const { email } = account.administrator;
  const counted = await limits.count({ email, address: by.address, browser: by.session });
  if (!(await isPassword(present, account.password, { isKnown: true }))) throw wrong;
  await counted.forgive();
  const stillProved: StillProved = async (transaction) => {
    if (!(await isStillPassword(transaction, account))) throw wrong;
  };
  return { account, stillProved };
}

/**
 * Whether the password that was checked is still the administrator's. It may have been reset or changed, and they may
 * have been removed, while the check waited for its turn. The company stays locked, so that neither happens until the
 * transaction ends.
 */
export async function isStillPassword(
  transaction: StoreTransaction,
  { administrator: { company, id }, password }: Account,
): Promise<boolean> {
  await lockCompany(transaction, company);
  const [current] = await findAccounts(transaction, { company, id });
  return current?.password === password;
}
