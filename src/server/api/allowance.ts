import { networkOf } from '../connections/networks.ts';
import { AppError } from '../../errors.ts';
import type { Engine } from '../store/engines/engine.ts';
import { type Counted, createOwnCounter, createRateCounter } from '../store/rate-counters.ts';

export interface AllowanceLimits {
  rateLimitPerMinute: number;
  wrongKeysPerMinute: number;
  /** A minute, unless a test can't wait that long. */
  windowSeconds?: number;
}

/** The window of the limits (openapi.yaml, "Rate limit"). */
export const WINDOW_SECONDS = 60;

/** The headers that tell of an allowance (draft-ietf-httpapi-ratelimit-headers). */
export interface AllowanceHeaders {
  'RateLimit-Policy': string;
  RateLimit: string;
}

export interface Taken {
  headers: AllowanceHeaders;
  /** The error to answer with when the allowance is used up. */
  refusal: AppError | undefined;
}

/** Counts requests (openapi.yaml, "Rate limit"). */
export interface Allowance {
  /** Counts one request of a key, unless it is counted already. */
  takeRequest: (caller: { company: string; keyId: string }, counted: Counted | undefined) => Promise<Taken>;
  /** Counts one request without a valid key, by the network of its address. */
  takeWrongKey: (address: string) => Promise<Taken>;
}

export function createAllowance(engine: Engine, limits: AllowanceLimits): Allowance {
  const { rateLimitPerMinute, wrongKeysPerMinute, windowSeconds: seconds = WINDOW_SECONDS } = limits;
  const window = seconds === 60 ? 'a minute' : `in ${seconds} seconds`;
  const ofKey = createOwnCounter({ name: 'key', points: rateLimitPerMinute, seconds });
  const ofAddress = createRateCounter(engine, { name: 'wrong-key', points: wrongKeysPerMinute, seconds });
  const keyPolicy = {
    name: '"default"',
    points: rateLimitPerMinute,
    text: `"default";q=${rateLimitPerMinute};w=${seconds}`,
    sentence: `This API key may send ${rateLimitPerMinute} requests ${window}.`,
  };
  const addressPolicy = {
    name: '"address"',
    points: wrongKeysPerMinute,
    text: `"address";q=${wrongKeysPerMinute};w=${seconds}`,
    sentence: 'This address has sent too many requests without a key that works.',
  };
  return {
    takeRequest: async ({ company, keyId }, counted) =>
      taken(keyPolicy, counted ?? (await ofKey(`${company}.${keyId}`))),
    takeWrongKey: async (address) => taken(addressPolicy, await ofAddress(networkOf(address))),
  };
}

/** One limit with the texts that tell of it, made once. */
interface Policy {
  name: string;
  points: number;
  text: string;
  sentence: string;
}

function taken(policy: Policy, { points, msBeforeNext }: Counted): Taken {
  const { name, text, sentence } = policy;
  const remaining = policy.points - points;
  const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return {
    headers: {
      'RateLimit-Policy': text,
      RateLimit: `${name};r=${Math.max(0, remaining)};t=${resetSeconds}`,
    },
    refusal:
      remaining < 0
        ? new AppError('rate_limited', `${sentence} Wait ${resetSeconds} seconds.`, {
            retryAfterSeconds: resetSeconds,
          })
        : undefined,
  };
}
