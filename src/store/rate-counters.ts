import {
  type IRateLimiterOptions,
  type IRateLimiterPostgresOptions,
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
} from 'rate-limiter-flexible';

import type { Engine } from './engine.ts';
import { poolOf } from './postgres.ts';

/** A request that was counted. */
export interface Counted {
  /** Requests of the window that runs, this one included. */
  points: number;
  msBeforeNext: number;
}

interface Allowed {
  name: string;
  points: number;
  seconds: number;
  /** Whether what was counted may be taken back. */
  isForgiving?: boolean;
}

/**
 * Keys that a counter knows at once. Each takes about half a kilobyte of memory, or a row; an attacker who wants one
 * forgotten has to come from more networks than that.
 */
const KEYS_MAX = 10_000;
/** After so many requests that were counted, rows above that number are removed. */
const SWEEP_EVERY = 1_000;

/**
 * Creates a counter of this process that allows `points` in a window of `seconds` that begins with the first of them.
 * @param keysMax keys that it knows at once; then it forgets the one that was not seen for longest.
 */
export function createOwnCounter({ name, points, seconds }: Allowed, keysMax = KEYS_MAX): RateLimiterMemory {
  return new OwnCounter({ keyPrefix: name, points, duration: seconds }, keysMax);
}

/** The package forgets a key when its window ends, and has no bound of its own. */
class OwnCounter extends RateLimiterMemory {
  /** The one that was not seen for longest comes first. */
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
      // It is done at once; the promise tells nothing more.
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
 * Creates a counter that processes which share a PostgreSQL database share, so a limit means the same on one machine
 * and on ten; while the database can't be reached each process counts for itself.
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
    // Who has used up an allowance is refused from memory until the window ends; but memory knows nothing of what is
    // taken back, so there it takes one that was refused.
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

  /** Keeps the windows that end last, and asks the database anew who is refused. */
  async #sweep(): Promise<void> {
    this.deleteInMemoryBlockedAll();
    const { keysMax, run } = this.#rows;
    const sql = `DELETE FROM rate_counts WHERE key IN (
      SELECT key FROM rate_counts WHERE starts_with(key, $1) ORDER BY expire DESC OFFSET $2)`;
    // The next one makes up for a sweep that fails; counting goes on without the database.
    await run(sql, [this.getKey(''), keysMax]).catch(() => undefined);
  }
}

/** Counts one; when that is more than allowed, gives the milliseconds until it is allowed again. */
export async function countOne(counter: RateLimiterAbstract, key: string): Promise<number | undefined> {
  try {
    await counter.consume(key);
    return undefined;
  } catch (refusal) {
    // The package rejects with its result when the points are used up, and with an error when it can't count.
    if (refusal instanceof RateLimiterRes) return refusal.msBeforeNext;
    throw refusal;
  }
}

/** Takes back one that was counted. */
export async function uncountOne(counter: RateLimiterAbstract, key: string): Promise<void> {
  await counter.reward(key);
}
