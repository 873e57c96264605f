import { RateLimiterRes } from 'rate-limiter-flexible';

import { AppError } from '../errors.ts';
import type { Engine } from '../store/engine.ts';
import { type Counted, createOwnCounter, createRateCounter } from '../store/rate-counters.ts';

export interface AllowanceLimits {
  rateLimitPerMinute: number;
  wrongKeysPerMinute: number;
  /** A minute, unless a test can't wait that long. */
  windowSeconds?: number;
}

/** The window of the limits (service.md, "Limits"). */
export const WINDOW_SECONDS = 60;

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
  /** Counts one request of a key, unless it is counted already. */
  takeRequest: (caller: { company: string; keyId: string }, counted: Counted | undefined) => Promise<Taken>;
  /** Counts one request without a key that works from an address. */
  takeWrongKey: (address: string) => Promise<Taken>;
}

/** Creates the counters of one server. */
export function createAllowance(engine: Engine, limits: AllowanceLimits): Allowance {
  const { rateLimitPerMinute, wrongKeysPerMinute, windowSeconds: seconds = WINDOW_SECONDS } = limits;
  const window = seconds === 60 ? 'a minute' : `in ${seconds} seconds`;
  const ofKey = createOwnCounter({ name: 'key', points: rateLimitPerMinute, seconds });
  const ofAddress = createRateCounter(engine, { name: 'wrong-key', points: wrongKeysPerMinute, seconds });
  return {
    takeRequest: async ({ company, keyId }, counted) =>
      taken(counted ? standing(counted, rateLimitPerMinute) : await consume(ofKey, `${company}.${keyId}`), {
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

/** Where somebody stands with the request that was just counted. */
interface Standing {
  state: Pick<RateLimiterRes, 'remainingPoints' | 'msBeforeNext'>;
  isRefused: boolean;
}

function standing({ points, msBeforeNext }: Counted, pointsMax: number): Standing {
  return { state: { remainingPoints: pointsMax - points, msBeforeNext }, isRefused: points > pointsMax };
}

function taken(
  { state, isRefused }: Standing,
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

async function consume(counter: ReturnType<typeof createRateCounter>, key: string): Promise<Standing> {
  try {
    return { state: await counter.consume(key), isRefused: false };
  } catch (refusal) {
    // The package rejects with its result when the points are used up, and with an error when it can't count.
    if (refusal instanceof RateLimiterRes) return { state: refusal, isRefused: true };
    throw refusal;
  }
}
