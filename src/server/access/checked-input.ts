import { isScope, type Scope, scopes } from '../../contract/scopes.ts';
import { quote, UsageError } from '../../errors.ts';
import type { Administrator } from '../store/accounts/administrator-rows.ts';

export const EMAIL_CHARACTERS_MAX = 254;
export const NAME_CHARACTERS_MAX = 100;

/**
 * Matches characters not allowed in a name: controls, line breaks, direction marks, unassigned characters and other invisible
 * ones, such as the Hangul fillers and the Braille blank. The two joiners and the variation selectors are allowed, because
 * Persian, Indian languages and emoji need them.
 */
const NO_PART_OF_A_NAME =
  /(?![\u200c\u200d\ufe00-\ufe0f\u180b-\u180f\u17b4\u17b5\u{e0100}-\u{e01ef}])[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/u;

/**
 * Returns the name of a thing or a person, checked and normalised.
 * @param what the subject of the error message, such as `The name`.
 * @returns the name without surrounding white space.
 * @throws UsageError for the field, naming the character or the rule.
 */
export function checkedLine(given: string, what: string, field = 'name'): string {
  const name = given.trim().normalize('NFC');
  const refuse = (rule: string): never => {
    throw new UsageError(`${what} ${rule}.`, { field });
  };
  if (name === '') throw new UsageError(`Enter ${what.replace(/^T/, 't')}.`, { field });
  const [wrong] = NO_PART_OF_A_NAME.exec(name) ?? [];
  if (wrong !== undefined) {
    const code = (wrong.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const before = name.slice(0, name.indexOf(wrong));
    refuse(`has an invisible character, U+${code}, after ${quote(before)}; remove it`);
  }
  if (!/[^\s\p{Default_Ignorable_Code_Point}]/u.test(name) || [...name].length > NAME_CHARACTERS_MAX)
    refuse(`must have 1 to ${NAME_CHARACTERS_MAX} characters, in one line`);
  return name;
}

/** Returns an email address in lower case, as it is stored. */
export function canonicalEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/**
 * Returns a new administrator's email address, checked and normalised. Non-ASCII characters are refused, because some look
 * like ASCII letters (UTS 39) and could imitate a colleague's address.
 * @throws UsageError for the field `email`, quoting an invalid address or a character that isn't allowed.
 */
export function checkedEmail(given: string): string {
  const email = canonicalEmail(given);
  const [foreign] = /[^\0-\x7f]/u.exec(email) ?? [];
  if (foreign !== undefined) {
    const code = (foreign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    throw new UsageError(
      `${quote(given)} has the character ${quote(foreign)} (U+${code}). Use only the letters a to z, digits and signs: other letters can look like these. Write a domain with other letters in its xn-- form.`,
      { field: 'email' },
    );
  }
  if (email === '') throw new UsageError('Enter an email address.', { field: 'email' });
  // Only a message to the address could prove that it exists.
  if (
    email.length > EMAIL_CHARACTERS_MAX ||
    !/^[^\s@"<>(),:;\\[\]\p{C}]+@[^\s@"<>(),:;\\[\]\p{C}]+$/u.test(email) ||
    // No part between dots is empty: such spellings could lead to the same mailbox.
    /^\.|\.\.|\.@|@[.-]|[.-]$|(?:\.-|-\.)(?=[^@]*$)/.test(email)
  )
    throw new UsageError(`${quote(given)} isn't an email address such as jane@example.com.`, {
      field: 'email',
    });
  return email;
}

/** Returns a checked name. @throws UsageError if it is empty, too long, or has a line break or an invisible character. */
export function checkedName(given: string): string {
  return checkedLine(given, 'The name');
}

/**
 * Returns the scopes that somebody grants, which must be among their own.
 * @throws UsageError for the field `scopes`, naming the refused scope, or if no scope is given.
 */
export function grantedScopes(
  given: readonly string[],
  by: Pick<Administrator, 'scopes'> | 'operator',
): Scope[] {
  const own = by === 'operator' ? scopes : by.scopes;
  if (given.length === 0) throw new UsageError('Choose at least one scope.', { field: 'scopes' });
  for (const scope of given) {
    if (isScope(scope) && own.includes(scope)) continue;
    const rule =
      by === 'operator' ? 'is not a scope; the scopes are' : 'is not a scope that you can give; you have';
    throw new UsageError(`${quote(scope)} ${rule} ${own.join(', ')}.`, { field: 'scopes' });
  }
  return scopes.filter((scope) => given.includes(scope));
}

/** Returns the reason why somebody isn't allowed to invite or remove administrators; undefined if they are. */
export function whyNotInvite(by: Pick<Administrator, 'mayInvite'> | 'operator'): string | undefined {
  if (by === 'operator' || by.mayInvite) return undefined;
  return 'You can’t invite or remove administrators.';
}

/** Refuses somebody who isn't allowed to invite or remove administrators. @throws UsageError. */
export function refuseInviting(by: Pick<Administrator, 'mayInvite'> | 'operator'): void {
  const reason = whyNotInvite(by);
  if (reason !== undefined) throw new UsageError(reason);
}

/** The access of an administrator: their scopes, which they may also grant, and whether they may invite others. */
export type Access = Pick<Administrator, 'scopes' | 'mayInvite'>;

export function goesBeyond({ scopes, mayInvite }: Access, most: Access): boolean {
  return scopes.some((scope) => !most.scopes.includes(scope)) || (mayInvite && !most.mayInvite);
}

/** Returns an administrator's access in words; empty if it allows nothing. */
export function accessText({ scopes, mayInvite }: Access): string {
  return [...scopes, ...(mayInvite ? ['may invite'] : [])].join(', ');
}
