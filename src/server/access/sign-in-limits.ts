import { hash } from 'node:crypto';

import { AppError } from '../../errors.ts';
import type { Engine } from '../store/engines/engine.ts';
import { createRateCounter, type RateCounter } from '../store/rate-counters.ts';
import { networkOf } from '../connections/networks.ts';

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
/** Links for new passwords that one network asks for, and that are mailed to one address. */
const RESETS_OF_NETWORK = 20;
const RESETS_OF_ACCOUNT = 3;

/** Counts attempts to sign in, so that a password can't be found by trying. */
export interface SignInLimits {
  /**
   * Counts an attempt before it is made, so that many at once are counted too. One that is refused isn't counted.
   * @param attempt.browser the number of a browser that signed in to an account of the address before, or the id of a
   *   session. It has a count of its own, so that guesses from elsewhere never lock it out.
   * @returns a function that takes the count back, for an attempt that succeeds or isn't made; and whether it may be made
   *   at accounts that the browser isn't known to.
   * @throws AppError `rate_limited`, in the same words whether there is such an account or not.
   */
  count: (attempt: {
    email: string;
    address: string;
    browser?: string | undefined;
  }) => Promise<{ forgive: () => Promise<void>; mayTryOthers: boolean }>;
  /**
   * Counts a new password as a guess at every account of the address: whoever has one of the accounts could otherwise try
   * any number of passwords at the others, by choosing each and signing in with it.
   */
  countNewPassword: (email: string) => Promise<void>;
  /**
   * Counts a request for a link that sets a new password.
   * @returns whether it may be mailed: an address gets three in an hour, whoever asks.
   * @throws AppError `rate_limited` after too many of one network.
   */
  mayAskForReset: (asked: { email: string; address: string }) => Promise<boolean>;
}

/** Creates the counters; processes that share a PostgreSQL database share them. */
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

/** Hashed, so that typed e-mail addresses don't get into the database. */
function accountOf(email: string): string {
  return hash('sha256', email, 'base64url');
}

/**
 * Counts one of each, or none when one of them refuses.
 * @returns a function that takes them back.
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
  return new AppError('rate_limited', `There were too many attempts to sign in. Try again in ${wait}.`, {
    retryAfterSeconds: Math.max(1, Math.ceil(ms / 1000)),
  });
}
