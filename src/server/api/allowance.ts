import { networkOf } from '../connections/networks.ts';
import { AppError } from '../../errors.ts';
import type { Engine } from '../store/engines/engine.ts';
import { type Counted, createOwnCounter, createRateCounter } from '../store/rate-counters.ts';

export interface AllowanceLimits {
  rateLimitPerMinute: number;
  wrongKeysPerMinute: number;
  /** Length in seconds of the window in which requests are counted; a minute by default, shorter in tests. */
  windowSeconds?: number;
}

/** Default length in seconds of the window in which requests are counted (openapi.yaml, "Rate limit"). */
export const WINDOW_SECONDS = 60;

export interface Taken {
  /** Response headers that state the caller's allowance (draft-ietf-httpapi-ratelimit-headers). */
  headers: Record<string, string>;
  /** The error to send if the allowance is used up; undefined if it isn't. */
  refusal: AppError | undefined;
}

/** Counts requests against their callers' allowances (openapi.yaml, "Rate limit"). */
export interface Allowance {
  /** Counts one request against an API key's allowance, unless `counted` shows that it already was. */
  takeRequest: (caller: { company: string; keyId: string }, counted: Counted | undefined) => Promise<Taken>;
  /** Counts one request without a valid key against the allowance of the client's network. */
  takeWrongKey: (address: string) => Promise<Taken>;
}

export function createAllowance(engine: Engine, limits: AllowanceLimits): Allowance {
  const { rateLimitPerMinute, wrongKeysPerMinute, windowSeconds: seconds = WINDOW_SECONDS } = limits;
  const window = seconds === 60 ? 'a minute' : `in ${seconds} seconds`;
  const ofKey = createOwnCounter({ name: 'key', points: rateLimitPerMinute, seconds });
  const ofAddress = createRateCounter(engine, { name: 'wrong-key', points: wrongKeysPerMinute, seconds });
  const keyPolicy = {
    name: 'default',
    quota: rateLimitPerMinute,
    seconds,
    sentence: `This API key may send ${rateLimitPerMinute} requests ${window}.`,
  };
  const addressPolicy = {
    name: 'address',
    quota: wrongKeysPerMinute,
    seconds,
    sentence: 'This address has sent too many requests without a key that works.',
  };
  return {
    takeRequest: async ({ company, keyId }, counted) =>
      taken(keyPolicy, counted ?? (await ofKey(`${company}.${keyId}`))),
    takeWrongKey: async (address) => taken(addressPolicy, await ofAddress(networkOf(address))),
  };
}

interface Policy {
  name: string;
  quota: number;
  seconds: number;
  /** A sentence that states the limit, for the error when it is exceeded. */
  sentence: string;
}

function taken({ name, quota, seconds, sentence }: Policy, { points, msBeforeNext }: Counted): Taken {
  const remaining = quota - points;
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  const message = `${sentence} Wait ${retryAfterSeconds} seconds.`;
  return {
    headers: {
      'RateLimit-Policy': `"${name}";q=${quota};w=${seconds}`,
      RateLimit: `"${name}";r=${Math.max(0, remaining)};t=${retryAfterSeconds}`,
    },
    refusal: remaining < 0 ? new AppError('rate_limited', message, { retryAfterSeconds }) : undefined,
  };
}
