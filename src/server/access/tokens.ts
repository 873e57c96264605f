import { hash, randomBytes } from 'node:crypto';

/** The secret of a key or a feed token, and the token of a session's cookie or of a one-time link. */
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

/** Makes a token that nobody can guess. */
export function mintToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Whether a text could be a token and is worth looking up. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The stored form of a token, which can't be used as a token. Random bytes need no slow hash. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex');
}
