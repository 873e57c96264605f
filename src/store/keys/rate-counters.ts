import {
  type IRateLimiterOptions,
  type IRateLimiterPostgresOptions,
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
} from 'rate-limiter-flexible';

import type { Engine } from '../engines/engine.ts';
import { poolOf } from '../engines/postgres.ts';

export type RateCounter = RateLimiterAbstract;

/** The state of a count, after one was counted. */
export interface Counted {
  /** The number in the current window, this one included; infinite when the counter refuses the key. */
  points: number;
  msBeforeNext: number;
}

interface Allowed {
  name: string;
  points: number;
  seconds: number;
  /** Whether a count may be taken back. */
  isForgiving?: boolean;
}

/**
 * Keys that a counter knows at once. Each takes about half a kilobyte of memory, or a row. A key whose points are used up
 * is never forgotten before its window ends, so that nobody gets a new allowance by sending other keys.
 */
const KEYS_MAX = 10_000;
/** After this number of counted requests, rows beyond the number of keys are removed. */
const SWEEP_EVERY = 1_000;

/**
 * Creates a counter of this process that allows `points` in a window of `seconds`, which begins with the first of them.
 * @param keysMax keys that it knows at once. Beyond that it forgets the key that was not seen for the longest time, and
 *   refuses a new one while all of them are used up.
 */
export function createOwnCounter({ name, points, seconds }: Allowed, keysMax = KEYS_MAX): RateLimiterMemory {
  return new OwnCounter({ keyPrefix: name, points, duration: seconds }, keysMax);
}

/** The package forgets a key when its window ends, and has no bound of its own. */
class OwnCounter extends RateLimiterMemory {
  /** The keys with points left; the one that was not seen for the longest time comes first. */
  readonly #keys = new Set<string>();
  /** The ends of the windows of the keys that are used up, in milliseconds since 1970. */
  readonly #usedUp = new Map<string, number>();
  readonly #keysMax: number;

  constructor(options: IRateLimiterOptions, keysMax: number) {
    super(options);
    this.#keysMax = keysMax;
  }

  override async consume(key: string): Promise<RateLimiterRes> {
    const now = Date.now();
    for (const [usedUp, endsAt] of this.#usedUp) {
      if (endsAt > now) break;
      this.#usedUp.delete(usedUp);
    }
    if (!this.#usedUp.has(key)) this.#admit(key, now);
    return this.#noted(key, await super.consume(key));
  }

  #admit(key: string, now: number): void {
    this.#keys.delete(key);
    if (this.#keys.size + this.#usedUp.size >= this.#keysMax) {
      const [oldest] = this.#keys;
      const [endsAt = now] = this.#usedUp.values();
      // The package's own way to refuse.
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      if (oldest === undefined) throw new RateLimiterRes(0, endsAt - now, Infinity);
      this.#keys.delete(oldest);
      // It is done at once, before the promise resolves.
      void this.delete(oldest);
    }
    this.#keys.add(key);
  }

  override async reward(key: string): Promise<RateLimiterRes> {
    // A forgotten key has nothing to take back.
    if (!this.#keys.has(key) && !this.#usedUp.has(key)) return new RateLimiterRes();
    return this.#noted(key, await super.reward(key));
  }

  #noted(key: string, result: RateLimiterRes): RateLimiterRes {
    const isUsedUp = result.consumedPoints >= this.points;
    if (isUsedUp && this.#keys.delete(key)) this.#usedUp.set(key, Date.now() + result.msBeforeNext);
    if (!isUsedUp && this.#usedUp.delete(key)) this.#keys.add(key);
    return result;
  }
}

/**
 * Creates a counter that all processes with the same PostgreSQL database share, so that a limit means the same on one
 * machine and on ten. While the database can't be reached, each process counts for itself.
 */
export function createRateCounter(engine: Engine, allowed: Allowed, keysMax = KEYS_MAX): RateLimiterAbstract {
  const own = createOwnCounter(allowed, keysMax);
  const pool = poolOf(engine);
  if (!pool) return own;
  const { name, points, seconds, isForgiving = false } = allowed;
  const options: IRateLimiterPostgresOptions = {
    storeClient: pool,
    storeType: 'pool',
    tableName: 'rate_counts',
    // The migrations make it.
    tableCreated: true,
    keyPrefix: name,
    points,
    duration: seconds,
    // A key that has used up its allowance is refused from memory until the window ends. Memory doesn't know of counts
    // that are taken back, so a counter that allows this waits until the database has refused the key once.
    inMemoryBlockOnConsumed: isForgiving ? points + 1 : points,
    insuranceLimiter: own,
  };
  return new SharedCounter(options, { keysMax, run: (sql, values) => engine.run(sql, values) });
}

/** The package removes rows whose window ended an hour ago, and has no bound of its own. */
class SharedCounter extends RateLimiterPostgres {
  #untilSweep = SWEEP_EVERY;
  readonly #rows: { keysMax: number; run: Engine['run'] };

  constructor(options: IRateLimiterPostgresOptions, rows: { keysMax: number; run: Engine['run'] }) {
    super(options);
    this.#rows = rows;
  }

  override async consume(key: string): Promise<RateLimiterRes> {
    this.#untilSweep -= 1;
    if (this.#untilSweep === 0) {
      this.#untilSweep = SWEEP_EVERY;
      await this.#sweep();
    }
    return super.consume(key);
  }

  /** Keeps what is used up and the windows that end last, and forgets the keys that are refused from memory. */
  async #sweep(): Promise<void> {
    this.deleteInMemoryBlockedAll();
    const { keysMax, run } = this.#rows;
    const sql = `DELETE FROM rate_counts WHERE key IN (
      SELECT key FROM rate_counts WHERE starts_with(key, $1)
      ORDER BY points >= $3 AND expire > $4 DESC, expire DESC OFFSET $2)
      AND NOT (points >= $3 AND expire > $4)`;
    // The next sweep makes up for one that fails.
    await run(sql, [this.getKey(''), keysMax, this.points, Date.now()]).catch(() => undefined);
  }
}

/** Counts one. The key is refused when `points` is more than the counter allows. */
export async function countOne(counter: RateLimiterAbstract, key: string): Promise<Counted> {
  try {
    const { consumedPoints: points, msBeforeNext } = await counter.consume(key);
    return { points, msBeforeNext };
  } catch (refusal) {
    // The package rejects with its result when the points are used up, and with an error when it can't count.
    if (refusal instanceof RateLimiterRes) return { points: Infinity, msBeforeNext: refusal.msBeforeNext };
    throw refusal;
  }
}

/** Takes one count back. */
export async function uncountOne(counter: RateLimiterAbstract, key: string): Promise<void> {
  await counter.reward(key);
}
