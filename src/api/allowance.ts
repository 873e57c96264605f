import { RateLimiterRes } from 'rate-limiter-flexible';

import { AppError } from '../errors.ts';
import type { Engine } from '../store/engine.ts';
import { createRateCounter } from '../store/rate-counters.ts';

export interface AllowanceLimits {
  rateLimitPerMinute: number;
  wrongKeysPerMinute: number;
  /** A minute, unless a test can't wait that long. */
  windowSeconds?: number;
}

/** Where a key stands in its allowance, as headers (draft-ietf-httpapi-ratelimit-headers). */
export interface AllowanceHeaders {
  'RateLimit-Policy': string;
  RateLimit: string;
}

/** One request has been counted. */
export interface Taken {
  headers: AllowanceHeaders;
  /** The error to answer with when the allowance is used up. */
  refusal: AppError | undefined;
}

/** Counts requests (service.md, "Limits"). */
export interface Allowance {
  /** Counts one request of a key. */
  takeRequest: (company: string, keyId: string) => Promise<Taken>;
  /** Counts one request without a key that works from an address. */
  takeWrongKey: (address: string) => Promise<Taken>;
}

/** Creates the counters of one server. */
export function createAllowance(engine: Engine, limits: AllowanceLimits): Allowance {
  const { rateLimitPerMinute, wrongKeysPerMinute, windowSeconds: seconds = 60 } = limits;
  const window = seconds === 60 ? 'a minute' : `in ${seconds} seconds`;
  const ofKey = createRateCounter(engine, { name: 'key', points: rateLimitPerMinute, seconds });
  const ofAddress = createRateCounter(engine, { name: 'wrong-key', points: wrongKeysPerMinute, seconds });
  return {
    takeRequest: async (company, keyId) =>
      taken(await consume(ofKey, `${company}.${keyId}`), {
        policy: `"default";q=${rateLimitPerMinute};w=${seconds}`,
        sentence: `This API key may send ${rateLimitPerMinute} requests ${window}.`,
      }),
    takeWrongKey: async (address) =>
      taken(await consume(ofAddress, address), {
        policy: `"address";q=${wrongKeysPerMinute};w=${seconds}`,
        sentence: 'This address has sent too many requests without a key that works.',
      }),
  };
}

function taken(
  { state, isRefused }: { state: RateLimiterRes; isRefused: boolean },
  { policy, sentence }: { policy: string; sentence: string },
): Taken {
  const resetSeconds = Math.max(1, Math.ceil(state.msBeforeNext / 1000));
  const name = policy.slice(0, policy.indexOf(';'));
  return {
    headers: {
      'RateLimit-Policy': policy,
      RateLimit: `${name};r=${Math.max(0, state.remainingPoints)};t=${resetSeconds}`,
    },
    refusal: isRefused
      ? new AppError('rate_limited', `${sentence} Wait ${resetSeconds} seconds.`, {
          retryAfterSeconds: resetSeconds,
        })
      : undefined,
  };
}

async function consume(counter: ReturnType<typeof createRateCounter>, key: string) {
  try {
    return { state: await counter.consume(key), isRefused: false };
  } catch (refusal) {
    // The package rejects with its result when the points are used up, and with an error when it can't count.
    if (refusal instanceof RateLimiterRes) return { state: refusal, isRefused: true };
    throw refusal;
  }
}
