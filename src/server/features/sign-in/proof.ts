import { UsageError } from '../../../errors.ts';
import type { SecretBox } from '../../process/secret-box.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import { type Account, type Administrator, findAccount } from '../../store/accounts/administrator-rows.ts';
import {
  type Act,
  authorisedTransaction,
  type SignedIn,
} from '../../store/accounts/authorised-transaction.ts';
import { updateSession } from '../../store/accounts/session-rows.ts';
import { lockCompany } from '../../store/records/companies.ts';
import { arePasswords } from './passwords.ts';
import { isAppCode, consumeSecondFactorCode } from './second-factor.ts';
import { recordFailedSignIn } from './sessions.ts';
import type { SignInLimits } from '../../access/sign-in-limits.ts';

interface Proof extends Act<SignedIn> {
  given: string;
  field: string;
  secrets?: SecretBox;
}

/**
 * Checks that a session is used by its owner, by their password or a code of their authenticator app. The session may then
 * make changes for ten minutes (../../store/accounts/authorised-transaction.ts).
 * @param proof.secrets decrypts second-factor secrets; if absent, only the password counts.
 * @throws UsageError for the proof's field when the proof is wrong; AppError `rate_limited` after too many attempts;
 *   AuthorityEndedError.
 */
export async function reauthenticate(engine: Engine, limits: SignInLimits, proof: Proof): Promise<Account> {
  const { company, by, field, secrets, now } = proof;
  const what = secrets ? 'password or code' : 'current password';
  const wrong = new UsageError(`Your ${what} is wrong.`, { field });
  const account = await findAccount(engine.db, { company, id: by.administrator });
  if (!account) throw wrong;
  try {
    return await proveAccount(engine, limits, account, { ...proof, wrong });
  } catch (error) {
    if (error === wrong) {
      const arrival = { ...by, administrator: account.administrator, now };
      await recordFailedSignIn(engine, arrival, { asked: `for the ${what}, of somebody who was signed in` });
    }
    throw error;
  }
}

async function proveAccount(
  engine: Engine,
  limits: SignInLimits,
  account: Account,
  { company, by, given, field, secrets, now, wrong }: Proof & { wrong: UsageError },
): Promise<Account> {
  const { email, hasSecondFactor } = account.administrator;
  const counted = await limits.count({ email, address: by.address, browser: by.session });
  const codes = hasSecondFactor && isAppCode(given) ? secrets : undefined;
  if (!codes) {
    if (!account.administrator.hasPassword) throw new UsageError(COME_AGAIN, { field });
    const [isRight] = await arePasswords(given, [account.password], { isKnown: true });
    if (!isRight) throw wrong;
  }
  const act = { company, by: { ...by, form: undefined }, now, isProofNeeded: false };
  await authorisedTransaction(engine, act, async ({ transaction, by: owner }) => {
    if (!codes && !(await withSamePassword(transaction, account))) throw wrong;
    // A form submitted twice repeats its code; the first submission was proof enough.
    if (codes && owner !== 'operator' && owner.isProved) return;
    if (codes) {
      const current = await findAccount(transaction, { company, id: by.administrator });
      if (!current || !(await consumeSecondFactorCode(transaction, codes, current, { given, now })))
        throw wrong;
    }
    await updateSession(transaction, { company, id: by.session }, { provedAt: now.toISOString() });
  });
  await counted.forgive();
  return account;
}

export const COME_AGAIN =
  'You have no password here. Open the portal from your business system again, then make this change within ten minutes.';

/**
 * Rereads the administrator whose password was checked; undefined if that password is no longer theirs. While the check was
 * queued, the password may have been reset or changed, or the administrator removed. The company stays locked, so that none
 * of these can happen before the transaction ends.
 */
export async function withSamePassword(
  transaction: StoreTransaction,
  { administrator: { company, id }, password }: Account,
): Promise<Administrator | undefined> {
  await lockCompany(transaction, company);
  const current = await findAccount(transaction, { company, id });
  return current?.password === password ? current.administrator : undefined;
}
