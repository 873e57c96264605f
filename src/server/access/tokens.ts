import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

import { AppError } from '../../errors.ts';
import type { HashedToken } from '../store/accounts/session-rows.ts';

/** Number of random bytes in API keys, feed tokens, session cookies and one-time links. */
const TOKEN_BYTES = 32;
/** Maximum characters of a token in a header; a longer one is refused without being parsed. */
const BEARER_CHARACTERS_MAX = 200;
const TOKEN = /^([a-z0-9-]{1,40})\.[\w-]{43}$/;

/** Returns a new random token that can't be guessed. */
export function mintToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Returns a new token for a session or link, naming its company so that only that company's rows are searched for it. */
export function mintTokenOf(company: string): string {
  return `${company}.${mintToken()}`;
}

/** Returns a portal token's company and hash, for looking it up; the company is empty if the token is malformed. */
export function hashedToken(token: string): HashedToken {
  return { company: TOKEN.exec(token)?.[1] ?? '', sha256: tokenHash(token) };
}

/** Whether a text has the form of a portal token, so that it is worth looking up. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Returns the hash under which a token is stored, which can't be used in its place. Random bytes need no slow hash. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex');
}

/**
 * Returns the parts of a key or token in an Authorization header: `count` parts after a prefix, between full stops.
 * @param shape.what the kind of token, such as `an API key`; `placeholder` stands for it in the error's example.
 * @returns the non-empty parts after the prefix.
 * @throws AppError `invalid_key` for a missing header, or one in any other form.
 */
export function bearerParts(
  authorization: string | undefined,
  { what, placeholder, prefix, count }: { what: string; placeholder: string; prefix: string; count: number },
): string[] {
  if (authorization === undefined)
    throw new AppError(
      'invalid_key',
      `The Authorization header is missing; send "Authorization: Bearer <${placeholder}>".`,
    );
  const [, text = ''] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
  const [first, ...parts] = text.length > BEARER_CHARACTERS_MAX ? [] : text.split('.');
  if (first !== prefix || parts.length !== count || !parts.every((part) => /^[\w-]+$/.test(part)))
    throw new AppError('invalid_key', `The Authorization header must be "Bearer " followed by ${what}.`);
  return parts;
}

/**
 * Whether a secret's digest equals the stored one, compared in constant time. An unknown key's secret is compared too, so
 * that the response time doesn't reveal which part was wrong.
 */
export function isSecretOf(secretSha256: string, stored: string | undefined): boolean {
  const expected = Buffer.from(stored ?? tokenHash(''), 'hex');
  return timingSafeEqual(expected, Buffer.from(secretSha256, 'hex')) && stored !== undefined;
}
