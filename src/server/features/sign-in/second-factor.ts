import { Secret, TOTP } from 'otpauth';

import { UsageError } from '../../../errors.ts';
import type { SecretBox } from '../../process/secret-box.ts';
import {
  type Account,
  type Administrator,
  findAccount,
  type SecondFactor,
  updateAdministratorRow,
} from '../../store/accounts/administrator-rows.ts';
import {
  type Act,
  type AuthorisedTransaction,
  authorisedTransaction,
  type SignedIn,
} from '../../store/accounts/authorised-transaction.ts';
import { deleteSessionRows } from '../../store/accounts/session-rows.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import { findCompanyRow } from '../../store/records/companies.ts';
import { refuseInviting } from '../../access/checked-input.ts';
import { changeCompany } from '../../backoffice/companies.ts';
import { tokenHash } from '../../access/tokens.ts';

/** RFC 6238 parameters that every authenticator app supports. */
const TIMED = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** Codes of the previous and next time step are accepted too, because clocks differ (RFC 6238 section 5.2). */
const STEPS_OFF_MAX = 1;
/** Length of a secret: 160 bits (RFC 4226 section 4). */
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** Bytes per recovery code: 80 bits (16 letters and digits), so that a fast hash is safe. */
const RECOVERY_CODE_BYTES = 10;

export const WRONG_CODE = 'This code is wrong or already used. Wait for the app’s next one.';

/**
 * Generates a second factor for an administrator to confirm with `addSecondFactor`. Nothing is stored yet.
 * @param sealed the sealed secret proposed before, when the form is shown again after a wrong code.
 * @returns the secret as text to type, as a URI for a QR code, and sealed for the form.
 * @throws UsageError when there is no key to seal it with, or `sealed` isn't theirs.
 */
export function proposeSecondFactor(
  box: SecretBox,
  { company, id, email }: Administrator,
  { issuer, sealed }: { issuer: string; sealed?: string | undefined },
): { secret: string; uri: string; sealed: string } {
  const owner = { company, id };
  const secret = sealed === undefined ? new Secret({ size: SECRET_BYTES }) : openSecret(box, sealed, owner);
  const uri = new TOTP({ ...TIMED, issuer, label: email, secret }).toString();
  return { secret: secret.base32, uri, sealed: box.seal(secret.base32, owner) };
}

/**
 * Gives an administrator a second factor, replacing any earlier one. Their other sessions end.
 * @param options.sealed the sealed secret from `proposeSecondFactor`.
 * @param options.code a code from the app, which shows that it has the secret.
 * @returns the recovery codes, which can't be shown again.
 * @throws UsageError for the field `code` when the code is wrong; the errors of `authorisedTransaction`.
 */
export async function addSecondFactor(
  engine: Engine,
  box: SecretBox,
  { sealed, code, ...act }: Act<SignedIn> & { sealed: string; code: string },
): Promise<string[]> {
  const owner = ownerOf(act);
  return authorisedTransaction(engine, act, async (authorised) => {
    const secret = openSecret(box, sealed, owner);
    const lastStep = stepOf(secret, code, act.now);
    if (lastStep === undefined) throw new UsageError(WRONG_CODE, { field: 'code' });
    await deleteSessionRows(authorised.transaction, owner, { allBut: act.by.session });
    await authorised.record({ action: 'second_factor.added', subject: owner.id });
    return renewCodes(authorised, owner, { secret: box.seal(secret.base32, owner), lastStep });
  });
}

/**
 * Replaces the remaining recovery codes with new ones.
 * @returns the new codes, which can't be shown again.
 * @throws UsageError when the administrator has no second factor; the errors of `authorisedTransaction`.
 */
export async function renewRecoveryCodes(engine: Engine, act: Act<SignedIn>): Promise<string[]> {
  const owner = ownerOf(act);
  return authorisedTransaction(engine, act, async (authorised) => {
    const { secondFactor } = await getSecondFactor(authorised, owner.id);
    await authorised.record({ action: 'second_factor.codes_renewed', subject: owner.id });
    return renewCodes(authorised, owner, secondFactor);
  });
}

const ownerOf = ({ company, by }: Act<SignedIn>) => ({ company, id: by.administrator });

async function renewCodes(
  { transaction }: AuthorisedTransaction,
  owner: { company: string; id: string },
  factor: Omit<SecondFactor, 'recoveryCodes'>,
): Promise<string[]> {
  const codes = Array.from(
    { length: RECOVERY_CODES },
    () => new Secret({ size: RECOVERY_CODE_BYTES }).base32,
  );
  await updateAdministratorRow(transaction, owner, {
    secondFactor: { ...factor, recoveryCodes: codes.map(tokenHash) },
  });
  return codes.map((code) => (code.match(/.{4}/g) ?? []).join('-'));
}

/**
 * Removes an administrator's own second factor; see `resetSecondFactor` for somebody else's.
 * @throws UsageError when they have none, or when their company requires it; the errors of `authorisedTransaction`.
 */
export async function removeSecondFactor(engine: Engine, act: Act<SignedIn>): Promise<void> {
  const { company, id } = ownerOf(act);
  await authorisedTransaction(engine, act, async (authorised) => {
    const { transaction } = authorised;
    const { administrator } = await getSecondFactor(authorised, id);
    const isRequired = (await findCompanyRow({ db: transaction }, company))?.secondFactorRequired;
    if (isRequired) throw new UsageError('Your company requires a second factor of every administrator.');
    await updateAdministratorRow(transaction, administrator, { secondFactor: null });
    const { name, email } = administrator;
    await authorised.record({ action: 'second_factor.removed', subject: id, details: { name, email } });
  });
}

/**
 * Turns the requirement of a second factor for all of a company's administrators on or off. While it is on, an administrator
 * without one can use nothing else in the portal until they have set one up.
 * @throws UsageError when `by` may not invite, or requires a second factor without having one; the errors of
 *   `authorisedTransaction`.
 */
export async function requireSecondFactor(
  engine: Engine,
  { isRequired, ...act }: Act<SignedIn> & { isRequired: boolean },
): Promise<void> {
  await authorisedTransaction(engine, act, async (authorised) => {
    refuseInviting(authorised.by);
    if (isRequired) await getSecondFactor(authorised, act.by.administrator);
    await changeCompany(authorised.transaction, act.company, { secondFactorRequired: isRequired });
    await authorised.record({ action: isRequired ? 'second_factor.required' : 'second_factor.optional' });
  });
}

async function getSecondFactor(
  { transaction, company }: AuthorisedTransaction,
  id: string,
): Promise<Account & { secondFactor: SecondFactor }> {
  const account = await findAccount(transaction, { company, id });
  const secondFactor = account?.secondFactor;
  if (!secondFactor) throw new UsageError('There is no second factor.');
  return { ...account, secondFactor };
}

/** Whether a text looks like a code of an authenticator app. Passwords are longer. */
export function isAppCode(given: string): boolean {
  return /^\d{6}$/.test(plainCode(given));
}

/**
 * Uses up a code of an account's second factor: the app's current code, or a recovery code. The caller has locked the company
 * and read the account after that, so only one of several simultaneous requests can use a code.
 * @returns the kind of code; undefined when it is wrong or was used before.
 * @throws UsageError when the secret can't be opened. Recovery codes need no key.
 */
export async function consumeSecondFactorCode(
  transaction: StoreTransaction,
  box: SecretBox,
  { administrator, secondFactor }: Account,
  { given, now }: { given: string; now: Date },
): Promise<'authenticator app' | 'recovery code' | undefined> {
  if (!secondFactor) return undefined;
  const { company, id } = administrator;
  const take = (changes: Partial<SecondFactor>) =>
    updateAdministratorRow(transaction, { company, id }, { secondFactor: { ...secondFactor, ...changes } });
  const code = plainCode(given);
  const digest = tokenHash(code);
  if (secondFactor.recoveryCodes.includes(digest)) {
    await take({ recoveryCodes: secondFactor.recoveryCodes.filter((one) => one !== digest) });
    return 'recovery code';
  }
  if (!isAppCode(code)) return undefined;
  const step = stepOf(openSecret(box, secondFactor.secret, { company, id }), code, now);
  // RFC 6238 section 5.2: a code works only once. Codes of earlier time steps are refused too, as somebody may have seen
  // them.
  if (step === undefined || step <= secondFactor.lastStep) return undefined;
  await take({ lastStep: step });
  return 'authenticator app';
}

/** Normalises a code, which people type in groups and in lower case. */
function plainCode(given: string): string {
  return given.replaceAll(/[\s-]/g, '').toUpperCase();
}

/** Finds the time step of an app's code; undefined when it matches no step near now. */
function stepOf(secret: Secret, code: string, now: Date): number | undefined {
  const [token, timestamp] = [plainCode(code), now.getTime()];
  const off = new TOTP({ ...TIMED, secret }).validate({ token, timestamp, window: STEPS_OFF_MAX });
  return off === null ? undefined : TOTP.counter({ ...TIMED, timestamp }) + off;
}

function openSecret(box: SecretBox, sealed: string, owner: { company: string; id: string }): Secret {
  return Secret.fromBase32(box.open(sealed, owner));
}
