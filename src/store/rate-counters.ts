import {
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

/** The name of a count in the table of counts, as the package forms it. */
export const counterOf = (name: string, what: string) => `${name}:${what}`;

interface Allowed {
  name: string;
  points: number;
  seconds: number;
  /** Whether what was counted may be taken back. */
  isForgiving?: boolean;
}

/** Creates a counter of this process that allows `points` in a window of `seconds` that begins with the first of them. */
export function createOwnCounter({ name, points, seconds }: Allowed): RateLimiterAbstract {
  return new RateLimiterMemory({ keyPrefix: name, points, duration: seconds });
}

/**
 * Creates a counter that processes which share a PostgreSQL database share, so a limit means the same on one machine
 * and on ten; while the database can't be reached each process counts for itself.
 */
export function createRateCounter(engine: Engine, allowed: Allowed): RateLimiterAbstract {
  const own = createOwnCounter(allowed);
  const pool = poolOf(engine);
  if (!pool) return own;
  const { name, points, seconds, isForgiving = false } = allowed;
  return new RateLimiterPostgres({
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
  });
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
