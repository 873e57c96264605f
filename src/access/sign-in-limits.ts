import { hash } from 'node:crypto';

import { AppError } from '../errors.ts';
import type { Engine } from '../store/engines/engine.ts';
import { countOne, createRateCounter, uncountOne } from '../store/keys/rate-counters.ts';
import { networkOf } from './networks.ts';

const QUARTER_SECONDS = 900;
const HOUR_SECONDS = 3600;
/** Guesses at one account from one network: enough for a person who mistypes, too few for a program. */
const GUESSES_OF_NETWORK_AT_ACCOUNT = 5;
/** Guesses at any accounts from one network. */
const GUESSES_OF_NETWORK = 50;
/** Guesses at one account from all browsers that never signed in to it. */
const GUESSES_AT_ACCOUNT = 50;
/** Guesses of a browser that signed in to the account before. */
const GUESSES_OF_BROWSER = 5;

/** Counts attempts to sign in, so that a password can't be found by trying. */
export interface SignInLimits {
  /**
   * Counts an attempt before it is made, so that many at once are counted too.
   * @param attempt.browser the number of a browser that signed in to the account before, or the id of a session. It has
   *   a count of its own, so that guesses from elsewhere never lock it out.
   * @returns a function that takes the count back, for an attempt that succeeds.
   * @throws AppError `rate_limited`, in the same words whether there is such an account or not.
   */
  count: (attempt: {
    email: string;
    address: string;
    browser?: string | undefined;
  }) => Promise<{ forgive: () => Promise<void> }>;
}

/** Creates the counters; processes that share a PostgreSQL database share them. */
export function createSignInLimits(engine: Engine): SignInLimits {
  const counter = (name: string, points: number, seconds: number) =>
    createRateCounter(engine, { name: `sign-in-${name}`, points, seconds, isForgiving: true });
  const counters = {
    both: counter('both', GUESSES_OF_NETWORK_AT_ACCOUNT, QUARTER_SECONDS),
    network: counter('network', GUESSES_OF_NETWORK, QUARTER_SECONDS),
    account: counter('account', GUESSES_AT_ACCOUNT, HOUR_SECONDS),
    browser: counter('browser', GUESSES_OF_BROWSER, QUARTER_SECONDS),
  };
  return {
    async count({ email, address, browser }) {
      // Hashed, so that typed e-mail addresses don't get into the database.
      const account = hash('sha256', email, 'base64url');
      const network = networkOf(address);
      const counts =
        browser === undefined
          ? // The network's count comes first: once a network is refused, it adds nothing to the other counts, so it can
            // neither fill them nor lock anybody out.
            ([
              [counters.network, network],
              [counters.both, `${account}.${network}`],
              [counters.account, account],
            ] as const)
          : ([[counters.browser, `${account}.${browser}`]] as const);
      for (const [counter, key] of counts) {
        const { points, msBeforeNext } = await countOne(counter, key);
        if (points > counter.points) throw refusal(msBeforeNext);
      }
      return {
        forgive: async () => {
          for (const [counter, key] of counts) await uncountOne(counter, key);
        },
      };
    },
  };
}

function refusal(ms: number): AppError {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`;
  return new AppError('rate_limited', `There were too many attempts to sign in. Try again in ${wait}.`, {
    retryAfterSeconds: Math.max(1, Math.ceil(ms / 1000)),
  });
}
