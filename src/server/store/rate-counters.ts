import { sql } from 'kysely';

import type { Engine } from './engines/engine.ts';

/** The state of a key's count, after a request was counted. */
export interface Counted {
  /** The number of requests in the current window, including this one; infinite for a key that is refused outright. */
  points: number;
  msBeforeNext: number;
}

/**
 * A function that counts one request of a key, unless the key's allowance is used up.
 * @returns the state, and a function that takes the count back, which has no effect after the window has ended; the function
 * is undefined when the key is refused.
 */
export type RateCounter = (key: string) => Promise<Counted & { takeBack?: () => Promise<void> }>;

interface Allowed {
  name: string;
  points: number;
  seconds: number;
}

/**
 * Maximum number of keys that a counter remembers. Beyond that it forgets the one whose window ends first. A key whose points
 * are used up is never forgotten before its window ends, so that nobody gets a new allowance by sending other keys.
 */
const KEYS_MAX = 10_000;
/** Number of counted requests after which expired rows, and those beyond the maximum number of keys, are deleted. */
const SWEEP_EVERY = 1_000;
/** Milliseconds for which a refused key isn't checked again. After that, another process may have taken a count back. */
const REFUSED_MS = 1_000;

/**
 * Returns a counter for this process alone that allows `points` in a window of `seconds`, which the first request starts.
 * @param keysMax the number of keys it remembers. It refuses new keys while all of these have used up their points.
 */
export function createOwnCounter({ points: allowed, seconds }: Allowed, keysMax = KEYS_MAX): RateCounter {
  /** The count and end of each key's window, in order of their ends. */
  const windows = new Map<string, { points: number; endsAt: number }>();
  const windowOf = (key: string, now: number) => {
    const known = windows.get(key);
    if (known && known.endsAt > now) return known;
    windows.delete(key);
    const begun = { points: 0, endsAt: now + seconds * 1000 };
    const [first = begun] = windows.values();
    for (const [other, { points, endsAt }] of windows) {
      if (windows.size < keysMax) break;
      if (points < allowed || endsAt <= now) windows.delete(other);
    }
    if (windows.size >= keysMax) return first;
    windows.set(key, begun);
    return begun;
  };
  return async (key) => {
    const now = Date.now();
    const window = windowOf(key, now);
    const msBeforeNext = window.endsAt - now;
    if (window.points >= allowed) return { points: Infinity, msBeforeNext };
    window.points += 1;
    const takeBack = async () => {
      window.points -= 1;
    };
    return { points: window.points, msBeforeNext, takeBack };
  };
}

/**
 * Returns a counter that all processes with the same PostgreSQL database share, so that a limit is the same on one machine
 * and on ten. While the database is unreachable, each process counts for itself.
 */
export function createRateCounter(engine: Engine, allowance: Allowed, keysMax = KEYS_MAX): RateCounter {
  const own = createOwnCounter(allowance, keysMax);
  if (!engine.dialect.isShared) return own;
  const { name, points: allowed, seconds } = allowance;
  const refused = new Map<string, { askAt: number; endsAt: number }>();
  let countedOnes = 0;
  const sweep = (now: number) =>
    sql`DELETE FROM rate_counts WHERE expire <= ${now} OR points < ${allowed} AND key IN (
      SELECT key FROM rate_counts WHERE starts_with(key, ${`${name}:`}) AND expire > ${now}
      ORDER BY points >= ${allowed} DESC, expire DESC OFFSET ${keysMax})`.execute(engine.db);
  const count = async (key: string, now: number) => {
    const row = `${name}:${key}`;
    const { rows } = await sql<{ points: number; expire: string }>`
      INSERT INTO rate_counts AS kept (key, points, expire) VALUES (${row}, 1, ${now + seconds * 1000})
      ON CONFLICT (key) DO UPDATE SET
        points = CASE WHEN kept.expire <= ${now} THEN 1 ELSE least(kept.points, ${allowed}) + 1 END,
        expire = CASE WHEN kept.expire <= ${now} THEN excluded.expire ELSE kept.expire END
      RETURNING points, expire`.execute(engine.db);
    const [{ points, expire } = { points: 1, expire: now }] = rows;
    const endsAt = Number(expire);
    if (points > allowed) {
      if (refused.size >= keysMax) refused.clear();
      refused.set(key, { askAt: Math.min(now + REFUSED_MS, endsAt), endsAt });
      return { points: Infinity, msBeforeNext: endsAt - now };
    }
    const takeBack = async () => {
      refused.delete(key);
      // A count that can't be taken back stays until its window ends.
      await sql`UPDATE rate_counts SET points = least(points, ${allowed}) - 1
        WHERE key = ${row} AND expire = ${expire} AND points > 0`
        .execute(engine.db)
        .catch(() => undefined);
    };
    return { points, msBeforeNext: endsAt - now, takeBack };
  };
  return async (key) => {
    const now = Date.now();
    const known = refused.get(key);
    if (known && known.askAt > now) return { points: Infinity, msBeforeNext: known.endsAt - now };
    // If a sweep fails, the next one makes up for it.
    if (countedOnes % SWEEP_EVERY === 0) await sweep(now).catch(() => undefined);
    countedOnes += 1;
    return count(key, now).catch(() => own(key));
  };
}
