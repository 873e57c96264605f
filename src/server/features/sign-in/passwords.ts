import { randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual, promisify } from 'node:util';

import { AppError } from '../../../errors.ts';
import { NO_PASSWORD } from '../../store/accounts/administrator-rows.ts';

/** Refusal of anything that needs a password, when sign-in is by portal links alone (PORTAL_SIGN_IN). */
export const PASSWORDS_OFF =
  'There are no passwords here. Sign in to your business system, and open the portal from there.';

/**
 * One of the equally strong scrypt settings in OWASP's Password Storage Cheat Sheet. It takes 32 MB for a quarter of a
 * second; the 128 MB setting would double a server's memory use.
 */
const COST = { N: 2 ** 15, r: 8, p: 3 };
const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** Memory limit for scrypt, which needs a little more than 128 * N * r bytes. Node's default of 32 MiB is too low. */
const MEMORY_BYTES_MAX = 64 * 1024 * 1024;

/** Maximum concurrent hashes: each occupies a core, and one of the few threads that also look up names and read files. */
const AT_ONCE_MAX = 2;
/** Maximum length of the queue of sign-ins. A further one would wait for some ten seconds, so it is refused. */
const WAITING_MAX = 40;

/** Maximum number of different salts tried per sign-in. All accounts of an address share one salt; see `hashPassword`. */
const SALTS_MAX = 8;

/**
 * Hashes a password for storage as `scrypt$N$r$p$salt$key`, the last two in base64url.
 * @param like the stored password of another account with the same email address, whose salt is reused. One hash then checks
 *   a password against all these accounts, so that the time doesn't reveal their number.
 */
export async function hashPassword(password: string, like?: string): Promise<string> {
  const other = like === undefined ? nobody : parseStored(like);
  const isShared = other !== nobody && isDeepStrictEqual(other.cost, COST);
  const salt = isShared ? other.salt : randomBytes(SALT_BYTES);
  const key = await derive(password, salt, COST);
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join('$');
}

/**
 * Checks a password against each of the stored ones. The work is the same for no account and for any number with the same
 * salt, so that the time doesn't reveal whether there are accounts.
 * @param options.isKnown whether the browser has signed in to such an account before, which puts it at the front of the
 *   queue.
 * @throws AppError `unavailable` when the queue is full.
 */
export async function arePasswords(
  password: string,
  stored: readonly string[],
  { isKnown = false } = {},
): Promise<boolean[]> {
  const parsed = stored.map(parseStored);
  const salted = new Map(parsed.map((one) => [one.salted, one]));
  const keys = new Map<string, Buffer>();
  for (const { salted: name, salt, cost } of [...(parsed.length > 0 ? salted.values() : [nobody])].slice(
    0,
    SALTS_MAX,
  ))
    keys.set(name, await derive(password, salt, cost, isKnown));
  return parsed.map(({ salted: name, key }) => {
    const given = keys.get(name);
    return given !== undefined && timingSafeEqual(given, key);
  });
}

/** Placeholder used in place of a stored password when there is no account. */
const nobody = { salted: '', cost: COST, salt: Buffer.alloc(SALT_BYTES), key: Buffer.alloc(KEY_BYTES) };

/** Parses a stored password; `salted` is everything before the key. */
function parseStored(stored: string): typeof nobody {
  if (stored === NO_PASSWORD) return nobody;
  const [, N, r, p, salt = '', key = ''] = stored.split('$');
  return {
    salted: stored.slice(0, stored.lastIndexOf('$')),
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  };
}

const scryptLater = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

let underWay = 0;
const waiting: (() => void)[] = [];

/** Derives a key from the normalised password, because an accented letter can be typed as one character or as two. */
async function derive(password: string, salt: Buffer, cost: typeof COST, isKnown = false): Promise<Buffer> {
  await turn(isKnown);
  try {
    const options = { ...cost, maxmem: MEMORY_BYTES_MAX };
    return await scryptLater(password.normalize('NFKC'), salt, KEY_BYTES, options);
  } finally {
    const next = waiting.shift();
    // The next sign-in in the queue takes over the slot.
    if (next) next();
    else underWay -= 1;
  }
}

async function turn(isKnown: boolean): Promise<void> {
  if (underWay < AT_ONCE_MAX) {
    underWay += 1;
    return;
  }
  // Known browsers go first: they are few, and each may try only a few times.
  if (!isKnown && waiting.length >= WAITING_MAX)
    throw new AppError('unavailable', 'Too many people are signing in. Try again in a few seconds.');
  await new Promise<void>((resolve) => (isKnown ? waiting.unshift(resolve) : waiting.push(resolve)));
}
