import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

import { AppError } from '../errors.ts';

/**
 * One of the equally strong settings of OWASP's Password Storage Cheat Sheet. It takes 32 MB for a quarter of a second.
 * The setting with 128 MB would double the memory of a server.
 */
const COST = { N: 2 ** 15, r: 8, p: 3 };
const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** Node's own limit is 32 MiB, and scrypt needs a little more than 128 * N * r bytes. */
const MEMORY_BYTES_MAX = 64 * 1024 * 1024;

/** Hashes at once: each takes a core, and one of the few threads that also look up names and read files. */
const AT_ONCE_MAX = 2;
/** Beyond this number of waiting sign-ins the next is refused: it would wait for some ten seconds. */
const WAITING_MAX = 40;

/** The form in which a password is stored: `scrypt$N$r$p$salt$key`, the last two in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, COST);
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join('$');
}

/**
 * Whether a password is the stored one. Without a stored one the answer is no, after the same work, so that the time
 * doesn't tell whether there is an account.
 * @param options.isKnown whether the browser signed in to the account before. Then it goes ahead of the others.
 * @throws AppError `unavailable` when too many wait for their turn.
 */
export async function isPassword(
  password: string,
  stored: string | undefined,
  { isKnown = false } = {},
): Promise<boolean> {
  const { cost, salt, key } = stored === undefined ? nobody : parseStored(stored);
  const given = await derive(password, salt, cost, isKnown);
  return timingSafeEqual(given, key) && stored !== undefined;
}

interface Cost {
  N: number;
  r: number;
  p: number;
}

/** Compared with the given password when there is no account. */
const nobody = { cost: COST, salt: Buffer.alloc(SALT_BYTES), key: Buffer.alloc(KEY_BYTES) };

function parseStored(stored: string): { cost: Cost; salt: Buffer; key: Buffer } {
  const [, N, r, p, salt = '', key = ''] = stored.split('$');
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  };
}

let underWay = 0;
const waiting: (() => void)[] = [];

/** Normalises the password, because a letter with an accent can be typed as one character or as two. */
async function derive(password: string, salt: Buffer, cost: Cost, isKnown = false): Promise<Buffer> {
  await turn(isKnown);
  try {
    return await new Promise((resolve, reject) => {
      const options = { ...cost, maxmem: MEMORY_BYTES_MAX };
      scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) => {
        if (error) reject(error);
        else resolve(key);
      });
    });
  } finally {
    const next = waiting.shift();
    // The next in the queue takes over the place.
    if (next) next();
    else underWay -= 1;
  }
}

async function turn(isKnown: boolean): Promise<void> {
  if (underWay < AT_ONCE_MAX) {
    underWay += 1;
    return;
  }
  // Known browsers are few, and each may try a few times only.
  if (!isKnown && waiting.length >= WAITING_MAX)
    throw new AppError('unavailable', 'Too many people sign in at this moment. Try again in some seconds.');
  await new Promise<void>((resolve) => (isKnown ? waiting.unshift(resolve) : waiting.push(resolve)));
}
