import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Browsers forget a cookie after 400 days (RFC 6265bis section 5.5); each sign-in begins them anew. */
export const KNOWN_DAYS_MAX = 400;
/** Accounts that one browser is remembered for: several people may use it. */
const PROOFS_MAX = 5;
const SEPARATOR = '~';

/** Whose browser it may be. */
interface Account {
  id: string;
  /** The password in its stored form, which is the key: with another password no proof holds any more. */
  password: string;
}

/** No account: it is compared with all the same, so that the time tells nobody whether there is one. */
const nobody: Account = { id: '', password: '' };

/**
 * The cookie of a browser in which somebody has just signed in. It holds a proof for each of the last accounts: the
 * browser's number for that account, when the proof ends, and an HMAC of both and the account under the stored
 * password. So nothing of it is stored, and every process that reads the database can check it.
 * @param cookie what the browser had before; proofs for other accounts stay.
 */
export function rememberBrowser(cookie: string | undefined, account: Account, now: Date): string {
  const proofs = proofsOf(cookie);
  const old = proofs.find((proof) => isProof(proof, account, now));
  const number = old?.split('.')[0] ?? randomBytes(16).toString('base64url');
  const endsAt = Math.floor(now.getTime() / 1000) + KNOWN_DAYS_MAX * 86_400;
  const proof = `${number}.${endsAt}.${macOf(`${number}.${endsAt}`, account)}`;
  return [proof, ...proofs.filter((one) => one !== old)].slice(0, PROOFS_MAX).join(SEPARATOR);
}

/** The number of a browser that signed in to this account before; undefined when its cookie proves nothing like it. */
export function knownBrowserOf(
  cookie: string | undefined,
  account: Account | undefined,
  now: Date,
): string | undefined {
  const proof = proofsOf(cookie).find((one) => isProof(one, account ?? nobody, now));
  return account && proof?.split('.')[0];
}

function proofsOf(cookie: string | undefined): string[] {
  const parts = (cookie ?? '').split(SEPARATOR, PROOFS_MAX);
  return parts.filter((part) => /^[\w-]{22}\.\d{1,12}\.[\w-]{43}$/.test(part));
}

function isProof(proof: string, account: Account, now: Date): boolean {
  const [number = '', endsAt = '', mac = ''] = proof.split('.');
  const expected = macOf(`${number}.${endsAt}`, account);
  return timingSafeEqual(Buffer.from(mac), Buffer.from(expected)) && Number(endsAt) * 1000 > now.getTime();
}

function macOf(text: string, { id, password }: Account): string {
  return createHmac('sha256', password).update(`known browser ${id} ${text}`).digest('base64url');
}
