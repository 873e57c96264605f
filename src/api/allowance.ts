import { RateLimiterRes } from 'rate-limiter-flexible';

import { networkOf } from '../access/networks.ts';
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
  takeRequest: (
    caller: { company: string; keyId: string },
    counted: Counted | undefined,
  ) => Taken | Promise<Taken>;
  /** Counts one request without a key that works from an address, or from the network that it stands for. */
  takeWrongKey: (address: string) => Promise<Taken>;
}

/** Creates the counters of one server. */
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
    takeRequest: ({ company, keyId }, counted) =>
      counted ? standing(counted, keyPolicy) : take(ofKey, `${company}.${keyId}`, keyPolicy),
    takeWrongKey: (address) => take(ofAddress, networkOf(address), addressPolicy),
  };
}

/** One limit with the texts that tell of it, made once. */
interface Policy {
  name: string;
  points: number;
  text: string;
  sentence: string;
}

/** Counts one. */
async function take(
  counter: ReturnType<typeof createRateCounter>,
  key: string,
  policy: Policy,
): Promise<Taken> {
  try {
    return taken(policy, await counter.consume(key), false);
  } catch (refusal) {
    // The package rejects with its result when the points are used up, and with an error when it can't count.
    if (refusal instanceof RateLimiterRes) return taken(policy, refusal, true);
    throw refusal;
  }
}

/** What was counted elsewhere. */
function standing({ points, msBeforeNext }: Counted, policy: Policy): Taken {
  return taken(policy, { remainingPoints: policy.points - points, msBeforeNext }, points > policy.points);
}

function taken(
  { name, text, sentence }: Policy,
  { remainingPoints, msBeforeNext }: Pick<RateLimiterRes, 'remainingPoints' | 'msBeforeNext'>,
  isRefused: boolean,
): Taken {
  const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return {
    headers: {
      'RateLimit-Policy': text,
      RateLimit: `${name};r=${Math.max(0, remainingPoints)};t=${resetSeconds}`,
    },
    refusal: isRefused
      ? new AppError('rate_limited', `${sentence} Wait ${resetSeconds} seconds.`, {
          retryAfterSeconds: resetSeconds,
        })
      : undefined,
  };
}
