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
 * Keys that a counter knows at once. Each takes about half a kilobyte of memory, or a row. An attacker who wants a count
 * to be forgotten needs more networks than that.
 */
const KEYS_MAX = 10_000;
/** After this number of counted requests, rows beyond the number of keys are removed. */
const SWEEP_EVERY = 1_000;

/**
 * Creates a counter of this process that allows `points` in a window of `seconds`, which begins with the first of them.
 * @param keysMax keys that it knows at once. Beyond that it forgets the key that was not seen for the longest time.
 */
export function createOwnCounter({ name, points, seconds }: Allowed, keysMax = KEYS_MAX): RateLimiterMemory {
  return new OwnCounter({ keyPrefix: name, points, duration: seconds }, keysMax);
}

/** The package forgets a key when its window ends, and has no bound of its own. */
class OwnCounter extends RateLimiterMemory {
  /** The key that was not seen for the longest time comes first. */
  readonly #keys = new Set<string>();
  readonly #keysMax: number;

  constructor(options: IRateLimiterOptions, keysMax: number) {
    super(options);
    this.#keysMax = keysMax;
  }

  override consume(key: string): Promise<RateLimiterRes> {
    this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size > this.#keysMax) {
      const [oldest = ''] = this.#keys;
      this.#keys.delete(oldest);
      // It is done at once, before the promise resolves.
      void this.delete(oldest);
    }
    return super.consume(key);
  }

  override async reward(key: string): Promise<RateLimiterRes> {
    // A forgotten key has nothing to take back.
    return this.#keys.has(key) ? super.reward(key) : new RateLimiterRes();
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

  /** Keeps the windows that end last, and forgets the keys that are refused from memory. */
  async #sweep(): Promise<void> {
    this.deleteInMemoryBlockedAll();
    const { keysMax, run } = this.#rows;
    const sql = `DELETE FROM rate_counts WHERE key IN (
      SELECT key FROM rate_counts WHERE starts_with(key, $1) ORDER BY expire DESC OFFSET $2)`;
    // The next sweep makes up for one that fails.
    await run(sql, [this.getKey(''), keysMax]).catch(() => undefined);
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
