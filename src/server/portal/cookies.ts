import type { CookieOptions, Request, Response } from 'express';

import { DAY_MS } from '../../contract/durations.ts';
import { KNOWN_BROWSER_DAYS } from '../features/sign-in/known-browsers.ts';
import { isToken } from '../access/tokens.ts';

const SEPARATOR = '~';
/** Maximum number of session tokens read from a cookie, more than a sign-in begins (../features/sign-in/sign-in.ts). */
const SESSIONS_MAX = 50;

/**
 * The portal's cookies: the tokens of the sessions of one sign-in (the first is in use), a secret that ties the forms of
 * guests to their browser, and the proofs of earlier sign-ins from the browser.
 */
export interface Cookies {
  sessionsOf: (req: Request) => string[];
  guestOf: (req: Request) => string | undefined;
  browserOf: (req: Request) => string | undefined;
  setSessions: (res: Response, tokens: readonly string[]) => void;
  endSessions: (res: Response) => void;
  setGuest: (res: Response, token: string) => void;
  setBrowser: (res: Response, proofs: string) => void;
}

/**
 * Creates the functions that read and set the cookies. Over https, names begin with `__Host-`: the browser then accepts
 * the cookies from this host alone, so that no sibling host can set one (RFC 6265bis section 4.1.3.2).
 */
export function createCookies({ isSecure }: { isSecure: () => boolean }): Cookies {
  const nameOf = (name: string) => (isSecure() ? `__Host-${name}` : name);
  const options = (): CookieOptions => ({ httpOnly: true, sameSite: 'lax', secure: isSecure(), path: '/' });
  const set = (res: Response, name: string, value: string, more: CookieOptions = {}) =>
    res.cookie(nameOf(name), value, { ...options(), ...more });
  return {
    sessionsOf: (req) =>
      (cookieOf(req, nameOf('fieldledger_session')) ?? '').split(SEPARATOR, SESSIONS_MAX).filter(isToken),
    guestOf: (req) => cookieOf(req, nameOf('fieldledger_guest')),
    browserOf: (req) => cookieOf(req, nameOf('fieldledger_browser')),
    setSessions: (res, tokens) => set(res, 'fieldledger_session', tokens.join(SEPARATOR)),
    endSessions: (res) => res.clearCookie(nameOf('fieldledger_session'), options()),
    setGuest: (res, token) => set(res, 'fieldledger_guest', token),
    setBrowser: (res, proofs) =>
      set(res, 'fieldledger_browser', proofs, { maxAge: KNOWN_BROWSER_DAYS * DAY_MS }),
  };
}

function cookieOf(req: Request, name: string): string | undefined {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const separator = pair.indexOf('=');
    if (separator > 0 && pair.slice(0, separator).trim() === name) return pair.slice(separator + 1).trim();
  }
  return undefined;
}
