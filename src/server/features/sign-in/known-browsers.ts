import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

import { DAY_MS } from '../../../contract/durations.ts';
import type { Account, Administrator } from '../../store/accounts/administrator-rows.ts';

/** Days for which a browser stays known, the maximum for a cookie (RFC 6265bis section 5.5). Each sign-in renews it. */
export const KNOWN_BROWSER_DAYS = 400;
/** Maximum number of accounts remembered per browser, which several people may share. */
const PROOFS_MAX = 5;
const SEPARATOR = '~';

/** An account whose stored password is the key for its proofs, so that a new password invalidates them. */
interface KnownAccount extends Pick<Account, 'password'> {
  administrator: Pick<Administrator, 'id'>;
}

/** Placeholder used when there is no account, so that timing doesn't reveal accounts. */
const nobody: KnownAccount = { administrator: { id: '' }, password: '' };

/**
 * Computes a browser's cookie after a sign-in. It holds a proof for each of the most recent accounts: the browser's number
 * for that account, the expiry of the proof, and an HMAC of both and the account id, keyed with the stored password. Every
 * process that reads the database can check it, and nothing is stored.
 * @param cookie the browser's previous cookie; its proofs for other accounts are kept.
 */
export function rememberBrowser(cookie: string | undefined, account: KnownAccount, now: Date): string {
  const proofs = proofsOf(cookie);
  const old = proofs.find((proof) => isProof(proof, account, now));
  const number = old?.split('.')[0] ?? randomBytes(16).toString('base64url');
  const endsAt = Math.floor((now.getTime() + KNOWN_BROWSER_DAYS * DAY_MS) / 1000);
  const proof = `${number}.${endsAt}.${macOf(`${number}.${endsAt}`, account)}`;
  return [proof, ...proofs.filter((one) => one !== old)].slice(0, PROOFS_MAX).join(SEPARATOR);
}

/** Finds the number of a browser that has signed in to this account before; undefined if its cookie has no valid proof. */
export function knownBrowserOf(
  cookie: string | undefined,
  account: KnownAccount | undefined,
  now: Date,
): string | undefined {
  const proof = proofsOf(cookie).find((one) => isProof(one, account ?? nobody, now));
  return account && proof?.split('.')[0];
}

function proofsOf(cookie: string | undefined): string[] {
  const parts = (cookie ?? '').split(SEPARATOR, PROOFS_MAX);
  return parts.filter((part) => /^[\w-]{22}\.\d{1,12}\.[\w-]{43}$/.test(part));
}

function isProof(proof: string, account: KnownAccount, now: Date): boolean {
  const [number = '', endsAt = '', mac = ''] = proof.split('.');
  const expected = macOf(`${number}.${endsAt}`, account);
  return timingSafeEqual(Buffer.from(mac), Buffer.from(expected)) && Number(endsAt) * 1000 > now.getTime();
}

function macOf(text: string, { administrator: { id }, password }: KnownAccount): string {
  return createHmac('sha256', password).update(`known browser ${id} ${text}`).digest('base64url');
}
