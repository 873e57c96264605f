import { isScope, type Scope, scopes } from '../contract/scopes.ts';
import { AppError, quote, UsageError } from '../errors.ts';
import {
  type Administrator,
  findAdministratorRow,
  findSignIn,
  listAdministratorRows,
  updateAdministratorRow,
} from '../store/administrators.ts';
import { type Actor, recordDeed } from '../store/audit.ts';
import type { Engine } from '../store/engine.ts';
import { deleteLinksOf } from '../store/portal-links.ts';
import { deleteSessionRows } from '../store/portal-sessions.ts';
import { getCompany } from './companies.ts';
import { hashPassword, isPassword, refuseWeakPassword } from './passwords.ts';
import { beginSession, type SessionLengths } from './sessions.ts';
import type { SignInLimits } from './sign-in-limits.ts';

const EMAIL_CHARACTERS_MAX = 254;
const NAME_CHARACTERS_MAX = 100;

/**
 * Lets somebody in by e-mail address and password.
 * @returns the token of a new session.
 * @throws UsageError in the same words and after the same time whatever was wrong; AppError `rate_limited` after too
 *   many attempts.
 */
export async function signIn(
  engine: Engine,
  limits: SignInLimits,
  attempt: {
    email: string;
    password: string;
    address: string;
    client: string;
    now: Date;
    lengths: SessionLengths;
  },
): Promise<{ token: string; administrator: Administrator }> {
  const { password, address, client, now, lengths } = attempt;
  const email = canonicalEmail(attempt.email).slice(0, EMAIL_CHARACTERS_MAX);
  const counted = await limits.count({ email, address });
  const found = await findSignIn(engine, email);
  const isRight = await isPassword(password, found?.password);
  if (!found || !isRight) throw new UsageError('The e-mail address or the password is wrong.');
  await counted.forgive();
  const { administrator } = found;
  return engine.transaction(async (transaction) => {
    // Somebody may have removed them while the password was being hashed.
    const current = await findAdministratorRow(transaction, administrator.company, administrator.id);
    if (!current || current.disabledAt !== null)
      throw new UsageError('The e-mail address or the password is wrong.');
    return beginSession(transaction, { administrator, client, now, lengths });
  });
}

/**
 * Changes an administrator's own password and ends their other sessions.
 * @throws UsageError when the present one is wrong, or the new one too weak.
 */
export async function changePassword(
  engine: Engine,
  limits: SignInLimits,
  change: {
    administrator: Administrator;
    session: string;
    address: string;
    present: string;
    next: string;
    now: Date;
  },
): Promise<void> {
  const { administrator, session, address, present, next, now } = change;
  refuseWeakPassword(next, administrator);
  const counted = await limits.count({ email: administrator.email, address });
  const found = await findSignIn(engine, administrator.email);
  if (!(await isPassword(present, found?.password)))
    throw new UsageError('Your present password is not right.');
  await counted.forgive();
  const password = await hashPassword(next);
  const { company, id } = administrator;
  await engine.transaction(async (transaction) => {
    await updateAdministratorRow(transaction, id, { password });
    await deleteSessionRows(transaction, id, { allBut: session });
    await recordDeed(transaction, {
      company,
      by: administrator,
      action: 'administrator.changed_password',
      subject: id,
      now,
    });
  });
}

/**
 * The administrators of a company, oldest first, former ones included.
 * @throws UsageError when there is no such company.
 */
export async function listAdministrators(engine: Engine, company: string): Promise<Administrator[]> {
  await getCompany(engine, company);
  return listAdministratorRows(engine, company);
}

/** Who removes somebody: they need the right to invite, and everything that the other one has. */
export type Remover = Administrator | 'operator';

/**
 * Takes an administrator's access away at once: their sessions end, and so do the links that they made. What they made
 * for the company stays.
 * @throws AppError `not_found` when the company has no such administrator; UsageError when `by` may not do that.
 */
export async function removeAdministrator(
  engine: Engine,
  options: { company: string; id: string; by: Remover; now: Date },
): Promise<Administrator> {
  const { company, id, by, now } = options;
  return engine.transaction(async (transaction) => {
    const administrator = await findAdministratorRow(transaction, company, id);
    if (!administrator || administrator.disabledAt !== null)
      throw new AppError('not_found', 'There is no such administrator.');
    const reason = whyNotRemove(administrator, by);
    if (reason !== undefined) throw new UsageError(reason);
    await updateAdministratorRow(transaction, id, { disabledAt: now.toISOString() });
    await deleteSessionRows(transaction, id);
    await deleteLinksOf(transaction, id);
    await recordDeed(transaction, {
      company,
      by,
      action: 'administrator.removed',
      subject: id,
      details: { name: administrator.name, email: administrator.email },
      now,
    });
    return { ...administrator, disabledAt: now.toISOString() };
  });
}

/** Why somebody may not take an administrator's access away; undefined when they may. */
export function whyNotRemove(administrator: Administrator, by: Remover): string | undefined {
  if (by === 'operator') return undefined;
  if (by.id === administrator.id) return "You can't remove yourself; ask another administrator.";
  if (!by.mayInvite) return 'You are not allowed to invite or remove administrators.';
  const more = administrator.scopes.filter((scope) => !by.scopes.includes(scope));
  if (more.length > 0) return `${administrator.name} has access that you don't have: ${more.join(', ')}.`;
  return undefined;
}

/** An e-mail address in the form in which it is kept: people don't mind capitals in it. */
export function canonicalEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/**
 * Checks what an administrator is called.
 * @throws UsageError naming the value that is refused.
 */
export function checkedEmail(given: string): string {
  const email = canonicalEmail(given);
  // More than this only a message to the address can tell.
  if (
    email.length > EMAIL_CHARACTERS_MAX ||
    !/^[^\s@"<>(),:;\\[\]\p{C}]+@[^\s@"<>(),:;\\[\]\p{C}]+$/u.test(email)
  )
    throw new UsageError(`${quote(given)} is not an e-mail address such as jane@example.com.`);
  return email;
}

/** @throws UsageError when the name is empty, too long or not one line. */
export function checkedName(given: string): string {
  const name = given.trim().normalize('NFC');
  if (name === '' || name.length > NAME_CHARACTERS_MAX || /\p{C}/u.test(name))
    throw new UsageError(`The name must have 1 to ${NAME_CHARACTERS_MAX} characters, in one line.`);
  return name;
}

/**
 * Checks scopes that somebody gives: only what they have themselves (service.md, "Authentication").
 * @throws UsageError naming the scope that is refused, or when there is none.
 */
export function grantedScopes(given: readonly string[], by: Remover): Scope[] {
  const own = by === 'operator' ? scopes : by.scopes;
  if (given.length === 0) throw new UsageError(`Choose at least one scope of ${own.join(', ')}.`);
  for (const scope of given) {
    if (!isScope(scope) || !own.includes(scope))
      throw new UsageError(`${quote(scope)} is not a scope that you can give; you have ${own.join(', ')}.`);
  }
  return scopes.filter((scope) => given.includes(scope));
}

/** The actor that the audit trail names. */
export function actorOf(by: Remover): Actor {
  return by === 'operator' ? by : { id: by.id, name: by.name };
}
