import type { CookieOptions, Request, Response } from 'express';

/** The portal's cookies: a session's token, and what binds the forms of guests to their browser. */
export interface Cookies {
  sessionOf: (req: Request) => string | undefined;
  guestOf: (req: Request) => string | undefined;
  setSession: (res: Response, token: string) => void;
  endSession: (res: Response) => void;
  setGuest: (res: Response, token: string) => void;
}

/**
 * Names and attributes of the cookies. Over https their names begin with `__Host-`: the browser then takes them from
 * this host alone, so that no neighbouring host can plant one (RFC 6265bis section 4.1.3.2).
 */
export function createCookies({ isSecure }: { isSecure: () => boolean }): Cookies {
  const nameOf = (name: string) => (isSecure() ? `__Host-${name}` : name);
  const options = (): CookieOptions => ({ httpOnly: true, sameSite: 'lax', secure: isSecure(), path: '/' });
  const set = (res: Response, name: string, value: string) => res.cookie(nameOf(name), value, options());
  return {
    sessionOf: (req) => cookieOf(req, nameOf('fieldledger_session')),
    guestOf: (req) => cookieOf(req, nameOf('fieldledger_guest')),
    setSession: (res, token) => set(res, 'fieldledger_session', token),
    endSession: (res) => res.clearCookie(nameOf('fieldledger_session'), options()),
    setGuest: (res, token) => set(res, 'fieldledger_guest', token),
  };
}

function cookieOf(req: Request, name: string): string | undefined {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const separator = pair.indexOf('=');
    if (separator > 0 && pair.slice(0, separator).trim() === name) return pair.slice(separator + 1).trim();
  }
  return undefined;
}
