import { hash } from 'node:crypto';

import { AppError } from '../../errors.ts';
import type { Engine } from '../store/engines/engine.ts';
import { createRateCounter, type RateCounter } from '../store/rate-counters.ts';
import { networkOf } from '../connections/networks.ts';

const QUARTER_SECONDS = 900;
const HOUR_SECONDS = 3600;
/** Maximum guesses in 15 minutes from one network at one account: enough for typing errors, too few for a program. */
const GUESSES_OF_NETWORK_AT_ACCOUNT = 5;
/** Maximum guesses in 15 minutes from one network at all accounts together. */
const GUESSES_OF_NETWORK = 50;
/** Maximum guesses per hour at one account; beyond it, only browsers that have signed in to it before may try. */
const GUESSES_AT_ACCOUNT = 50;
/** Maximum guesses in 15 minutes at an account from a browser that has signed in to it before. */
const GUESSES_OF_BROWSER = 5;
/** Maximum requests for reset links from one network in 15 minutes and, below, reset links mailed to one address per hour. */
const RESETS_OF_NETWORK = 20;
const RESETS_OF_ACCOUNT = 3;

/** Limits on attempts to sign in, so that passwords can't be found by guessing. */
export interface SignInLimits {
  /**
   * Counts a sign-in before it is attempted, so that simultaneous attempts are counted too. A refused attempt isn't counted.
   * @param attempt.browser the id of a browser that has signed in to an account with this address before, or of a session. It
   * is counted separately, so that guesses from elsewhere never lock it out.
   * @returns a function that takes the count back, for an attempt that succeeds or isn't made; and whether accounts that the
   * browser hasn't signed in to may be tried too.
   * @throws AppError `rate_limited`, with the same message whether there is such an account or not.
   */
  count: (attempt: {
    email: string;
    address: string;
    browser?: string | undefined;
  }) => Promise<{ forgive: () => Promise<void>; mayTryOthers: boolean }>;
  /**
   * Counts a new password as a guess at every account with the address. Otherwise the owner of one account could try any
   * number of passwords at the others, by setting each as their own and signing in with it.
   */
  countNewPassword: (email: string) => Promise<void>;
  /**
   * Counts a request for a password-reset link.
   * @returns whether the link may be mailed: each address gets at most three an hour, whoever asks.
   * @throws AppError `rate_limited` after too many requests from one network.
   */
  mayAskForReset: (asked: { email: string; address: string }) => Promise<boolean>;
}

/** Returns the limits on sign-in, whose counters are shared by all processes with the same PostgreSQL database. */
export function createSignInLimits(engine: Engine): SignInLimits {
  const counter = (name: string, points: number, seconds: number) =>
    createRateCounter(engine, { name: `sign-in-${name}`, points, seconds });
  const counters = {
    both: counter('both', GUESSES_OF_NETWORK_AT_ACCOUNT, QUARTER_SECONDS),
    network: counter('network', GUESSES_OF_NETWORK, QUARTER_SECONDS),
    account: counter('account', GUESSES_AT_ACCOUNT, HOUR_SECONDS),
    browser: counter('browser', GUESSES_OF_BROWSER, QUARTER_SECONDS),
    resetNetwork: counter('reset-network', RESETS_OF_NETWORK, QUARTER_SECONDS),
    resetAccount: counter('reset-account', RESETS_OF_ACCOUNT, HOUR_SECONDS),
  };
  return {
    async count({ email, address, browser }) {
      const account = accountOf(email);
      const network = networkOf(address);
      const own = browser !== undefined && (await countAll([[counters.browser, `${account}.${browser}`]]));
      const others = await countAll([
        // The network's count comes first: once a network is refused, it adds no keys to the other counters.
        ...(own
          ? []
          : ([
              [counters.network, network],
              [counters.both, `${account}.${network}`],
            ] as const)),
        [counters.account, account],
      ]).catch((error: unknown) => {
        if (own && error instanceof AppError) return undefined;
        throw error;
      });
      const forgive = async () => {
        if (own) await own();
        await others?.();
      };
      return { forgive, mayTryOthers: others !== undefined };
    },
    async countNewPassword(email) {
      await counters.account(accountOf(email));
    },
    async mayAskForReset({ email, address }) {
      await countAll([[counters.resetNetwork, networkOf(address)]]);
      return (await counters.resetAccount(accountOf(email))).takeBack !== undefined;
    },
  };
}

/** Returns a hash of an email address as the account's key, so that typed addresses don't get into the database. */
function accountOf(email: string): string {
  return hash('sha256', email, 'base64url');
}

/**
 * Increments all of the given counters, or none if one of them refuses.
 * @returns a function that takes the counts back.
 */
async function countAll(counts: (readonly [RateCounter, string])[]): Promise<() => Promise<void>> {
  const counted: (() => Promise<void>)[] = [];
  const forgive = async () => {
    for (const takeBack of counted) await takeBack();
  };
  for (const [count, key] of counts) {
    const { takeBack, msBeforeNext } = await count(key);
    if (!takeBack) {
      await forgive();
      throw refusal(msBeforeNext);
    }
    counted.push(takeBack);
  }
  return forgive;
}

function refusal(ms: number): AppError {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`;
  return new AppError('rate_limited', `Too many attempts to sign in. Try again in ${wait}.`, {
    retryAfterSeconds: Math.max(1, Math.ceil(ms / 1000)),
  });
}
