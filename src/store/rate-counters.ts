import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterPostgres } from 'rate-limiter-flexible';

import type { Engine } from './engine.ts';
import { poolOf } from './postgres.ts';

/**
 * Creates a counter that allows `points` in a window of `seconds` that begins with the first of them.
 * Processes that share a PostgreSQL database share its counts, so a limit means the same on one machine and on ten;
 * while the database can't be reached each process counts for itself.
 */
export function createRateCounter(
  engine: Engine,
  { name, points, seconds }: { name: string; points: number; seconds: number },
): RateLimiterAbstract {
  const own = new RateLimiterMemory({ keyPrefix: name, points, duration: seconds });
  const pool = poolOf(engine);
  if (!pool) return own;
  return new RateLimiterPostgres({
    storeClient: pool,
    storeType: 'pool',
    tableName: 'rate_counts',
    // The migrations make it.
    tableCreated: true,
    keyPrefix: name,
    points,
    duration: seconds,
    // A key that has used up its allowance is refused from memory until its window ends.
    inMemoryBlockOnConsumed: points,
    insuranceLimiter: own,
  });
}
