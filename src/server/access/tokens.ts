import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

import { AppError } from '../../errors.ts';
import type { HashedToken } from '../store/accounts/session-rows.ts';

/** The secret of a key or a feed token, and the token of a session's cookie or of a one-time link. */
const TOKEN_BYTES = 32;
/** A header with a longer token isn't looked at. */
const BEARER_CHARACTERS_MAX = 200;
const TOKEN = /^([a-z0-9-]{1,40})\.[\w-]{43}$/;

/** Makes a token that nobody can guess. */
export function mintToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Makes the token of a session or a link, which names its company, so that it is looked for there alone. */
export function mintTokenOf(company: string): string {
  return `${company}.${mintToken()}`;
}

/** A token of the portal as it is looked for; one that names no company is nobody's. */
export function hashedToken(token: string): HashedToken {
  return { company: TOKEN.exec(token)?.[1] ?? '', sha256: tokenHash(token) };
}

/** Whether a text could be a token and is worth looking up. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The stored form of a token, which can't be used as a token. Random bytes need no slow hash. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex');
}

/**
 * Reads the key or feed token of an Authorization header: a prefix and `count` further parts between full stops.
 * @param shape.what its name in a refusal, such as `an API key`; `placeholder` stands for it in an example.
 * @returns the parts behind the prefix, of which none is empty.
 * @throws AppError `invalid_key` for a missing header, and for one that is anything else.
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
 * Whether a secret is the one of a stored digest. One of an unknown key is compared too, so that the time doesn't tell which
 * part was wrong.
 */
export function isSecretOf(secretSha256: string, stored: string | undefined): boolean {
  const expected = Buffer.from(stored ?? tokenHash(''), 'hex');
  return timingSafeEqual(expected, Buffer.from(secretSha256, 'hex')) && stored !== undefined;
}
