import { hash, randomBytes } from 'node:crypto';

import type { HashedToken } from '../store/accounts/session-rows.ts';

/** The secret of a key or a feed token, and the token of a session's cookie or of a one-time link. */
const TOKEN_BYTES = 32;
const TOKEN = /^(?:([a-z0-9-]{1,40})\.)?[\w-]{43}$/;

/** Makes a token that nobody can guess. */
export function mintToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Makes the token of a session or a link, which names its company, so that it is looked for there alone. */
export function mintTokenOf(company: string): string {
  return `${company}.${mintToken()}`;
}

/** A token of the portal as it is looked for. Those of versions before 1.1.0 name no company. */
export function hashedToken(token: string): HashedToken {
  return { company: TOKEN.exec(token)?.[1], sha256: tokenHash(token) };
}

/** Whether a text could be a token and is worth looking up. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The stored form of a token, which can't be used as a token. Random bytes need no slow hash. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex');
}
