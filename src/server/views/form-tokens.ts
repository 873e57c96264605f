import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Name of the form field that carries the form token. */
export const FORM_TOKEN_FIELD = 'form-token';
/** Length of a form id: 132 bits, enough to be unique. */
const FORM_ID_CHARACTERS = 22;

/**
 * Returns the token for the forms of one browser. It is derived from the browser's cookie, so no other site can know it,
 * and it ends with the session. Each page masks it with random bytes, so that the lengths of compressed pages don't
 * reveal it (BREACH).
 */
export function formTokenFor(cookie: string): string {
  const pad = randomBytes(32);
  return Buffer.concat([pad, xor(pad, digest(cookie))]).toString('base64url');
}

/** Whether a form token belongs to the browser that holds this cookie. */
export function isFormToken(given: string, cookie: string): boolean {
  const bytes = Buffer.from(given, 'base64url');
  if (bytes.length !== 64) return false;
  return timingSafeEqual(xor(bytes.subarray(0, 32), bytes.subarray(32)), digest(cookie));
}

/**
 * Returns the id of one form on one page: each page has its own masked token, and each of its forms its own action. The
 * id is useless without the session, so it can appear in a URL.
 */
export function formIdOf(token: string, action: string): string {
  const bytes = Buffer.from(token, 'base64url').subarray(0, 32);
  return hash('sha256', `${bytes.toString('hex')} ${action}`, 'base64url').slice(0, FORM_ID_CHARACTERS);
}

function digest(cookie: string): Buffer {
  return hash('sha256', `portal form ${cookie}`, 'buffer');
}

function xor(one: Buffer, other: Buffer): Buffer {
  return Buffer.from(one.map((byte, index) => byte ^ (other[index] ?? 0)));
}

/**
 * Whether a form was sent by one of our own pages, according to the headers `Sec-Fetch-Site` and `Origin`. For browsers
 * too old to send either, the token check decides.
 */
export function isFromOwnPage(
  headers: { origin?: string | undefined; host?: string | undefined; 'sec-fetch-site'?: string | undefined },
  baseUrl: string,
): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return true;
  if (origin === baseUrl) return true;
  return URL.canParse(origin) && /^https?:/.test(origin) && new URL(origin).host === host;
}
