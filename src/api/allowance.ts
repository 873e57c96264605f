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

/** Counts requests (service.md, "Limits"). */
export interface Allowance {
  /**
   * Counts one request of a key.
   * @returns the headers for the answer, and the error to answer with when the allowance is used up.
   */
  takeRequest: (
    company: string,
    keyId: string,
  ) => Promise<{ headers: AllowanceHeaders; refusal: AppError | undefined }>;
  /**
   * Counts one request without a right key from an address.
   * @throws AppError `rate_limited` when the address has sent too many.
   */
  takeWrongKey: (address: string) => Promise<void>;
}

/** Creates the counters of one server. */
export function createAllowance(engine: Engine, limits: AllowanceLimits): Allowance {
  const { rateLimitPerMinute: points, windowSeconds: seconds = 60 } = limits;
  const requests = createRateCounter(engine, { name: 'key', points, seconds });
  const wrongKeys = createRateCounter(engine, {
    name: 'wrong-key',
    points: limits.wrongKeysPerMinute,
    seconds,
  });
  const policy = `"default";q=${points};w=${seconds}`;
  return {
    async takeRequest(company, keyId) {
      const { state, isRefused } = await consume(requests, `${company}.${keyId}`);
      const resetSeconds = Math.max(1, Math.ceil(state.msBeforeNext / 1000));
      return {
        headers: {
          'RateLimit-Policy': policy,
          RateLimit: `"default";r=${Math.max(0, state.remainingPoints)};t=${resetSeconds}`,
        },
        refusal: isRefused
          ? tooMany(`This API key may send ${points} requests ${windowText(seconds)}.`, resetSeconds)
          : undefined,
      };
    },
    async takeWrongKey(address) {
      const { state, isRefused } = await consume(wrongKeys, address);
      if (isRefused) {
        throw tooMany(
          'This address has sent too many requests without a right key.',
          Math.ceil(state.msBeforeNext / 1000),
        );
      }
    },
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

function tooMany(what: string, retryAfterSeconds: number): AppError {
  return new AppError('rate_limited', `${what} Wait ${retryAfterSeconds} seconds.`, {
    retryAfterSeconds,
  });
}

function windowText(seconds: number): string {
  return seconds === 60 ? 'a minute' : `in ${seconds} seconds`;
}
