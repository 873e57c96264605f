import { hash, randomBytes } from 'node:crypto';

/** What a session's cookie or a one-time link holds. */
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

/** Makes a token that nobody can guess. */
export function mintToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Whether a text could be a token: another one isn't looked up. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The form in which a token is stored, which nobody can use. Random bytes need no slow hash. */
export function tokenHash(token: string): string {
  return hash('sha256', token, 'hex');
}
