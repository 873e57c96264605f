import { sql } from 'kysely';

import type { Engine } from './engines/engine.ts';

/** The state of a count, after one was counted. */
export interface Counted {
  /** The number in the current window, this one included; infinite when the counter refuses the key. */
  points: number;
  msBeforeNext: number;
}

/**
 * Counts one, unless the key is refused because its window is used up.
 * @returns also a function that takes the count back, which does nothing once the window has ended; undefined when the key
 *   is refused.
 */
export type RateCounter = (key: string) => Promise<Counted & { takeBack?: () => Promise<void> }>;

interface Allowed {
  name: string;
  points: number;
  seconds: number;
}

/**
 * Keys that a counter knows at once. Beyond that it forgets the one whose window ends first. A key whose points are used
 * up is never forgotten before its window ends, so that nobody gets a new allowance by sending other keys.
 */
const KEYS_MAX = 10_000;
/** After this number of counted requests, rows that ended and rows beyond the number of keys are removed. */
const SWEEP_EVERY = 1_000;
/** The database isn't asked again about a key that it refused. Another process may take a count back after that. */
const REFUSED_MS = 1_000;

/**
 * Creates a counter of this process that allows `points` in a window of `seconds`, which begins with the first of them.
 * @param keysMax keys that it knows at once. It refuses a new one while all of them are used up.
 */
export function createOwnCounter({ points: allowed, seconds }: Allowed, keysMax = KEYS_MAX): RateCounter {
  /** The one that ends first comes first. */
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
 * Creates a counter that all processes with the same PostgreSQL database share, so that a limit means the same on one
 * machine and on ten. While the database can't be reached, each process counts for itself.
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
    // The next sweep makes up for one that fails.
    if (countedOnes % SWEEP_EVERY === 0) await sweep(now).catch(() => undefined);
    countedOnes += 1;
    return count(key, now).catch(() => own(key));
  };
}
