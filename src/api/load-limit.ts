import { setTimeout as pause } from 'node:timers/promises';

import { AppError } from '../errors.ts';

/**
 * On SQLite a request is answered in one go, so that those which came together wait for each other, unseen, in their
 * sockets: who comes last in a turn of the event loop has waited for as long as the turn goes on. A crowd that is gone
 * after a few turns is served; one that stays is let in no faster than it is answered. A machine that was halted for a
 * moment has few requests in a turn.
 */
const TURN_MS_MAX = 15;
const CROWD_MS_MAX = 60;
const TURN_REQUESTS_MIN = 100;
/**
 * On PostgreSQL they wait for a connection: so many are a tenth of a second's work. More of them are a crowd as well, until
 * half are left, and nobody is let in to twice as many.
 */
const UNDER_WAY_MAX = 200;
const RETRY_SECONDS = 1;
/**
 * A refusal is held back, because some ask again as soon as they have it: to refuse a thousand of those took the server
 * more time than its answers. So each takes one refusal a second, and its connection, of which the server has a bound; some
 * sooner and some later, or those that were refused together would come again as a crowd.
 */
const HELD_BACK_MS = 1_000;

/** How much is let in at once; see the constants. */
export interface LoadBounds {
  turnMsMax: number;
  crowdMsMax: number;
  turnRequestsMin: number;
  underWayMax: number;
  heldBackMs: number;
}

/**
 * Refuses what can't be answered in good time, at a quarter of what a page costs: whoever waits longer asks again
 * anyway, and then nobody is answered. Memory and waiting stay bounded however many come.
 */
export interface LoadLimit {
  /** Whether the request may begin, and not be one too many. */
  begin: () => boolean;
  /** Has to follow every `begin` that said yes. */
  end: () => void;
  /**
   * For a request that may not begin.
   * @throws AppError `unavailable`, after a while.
   */
  refuse: () => Promise<never>;
}

// Made once: a stack of its own for each would cost as much as the rest of a refusal.
const refusal = new AppError('unavailable', 'The service is temporarily unavailable. Retry shortly.', {
  retryAfterSeconds: RETRY_SECONDS,
});

/** Creates the limit of one server. */
export function createLoadLimit({
  turnMsMax = TURN_MS_MAX,
  crowdMsMax = CROWD_MS_MAX,
  turnRequestsMin = TURN_REQUESTS_MIN,
  underWayMax = UNDER_WAY_MAX,
  heldBackMs = HELD_BACK_MS,
}: Partial<LoadBounds> = {}): LoadLimit {
  let underWay = 0;
  /** Since when as many have been under way as may be, and never only half of them. */
  let fullSince: number | undefined;
  let turn: { beganAt: number; requests: number } | undefined;
  /** Since when every turn has been a long one. */
  let crowdedSince: number | undefined;

  const beginTurn = () => {
    const begun = { beganAt: performance.now(), requests: 0 };
    turn = begun;
    setImmediate(() => {
      turn = undefined;
      const isLong = performance.now() - begun.beganAt > turnMsMax;
      crowdedSince = isLong ? (crowdedSince ?? begun.beganAt) : undefined;
    });
    return begun;
  };
  const isTooLate = ({ beganAt, requests }: { beganAt: number; requests: number }) => {
    if (crowdedSince === undefined || requests <= turnRequestsMin) return false;
    const now = performance.now();
    return now - beganAt > turnMsMax && now - crowdedSince > crowdMsMax;
  };
  const isFull = () => {
    if (underWay < underWayMax) return false;
    if (underWay >= 2 * underWayMax) return true;
    const now = performance.now();
    fullSince ??= now;
    return now - fullSince > crowdMsMax;
  };
  return {
    begin() {
      const current = turn ?? beginTurn();
      current.requests += 1;
      if (isFull() || isTooLate(current)) return false;
      underWay += 1;
      return true;
    },
    end() {
      underWay -= 1;
      if (underWay <= underWayMax / 2) fullSince = undefined;
    },
    async refuse() {
      await pause(heldBackMs * (0.5 + Math.random()));
      throw refusal;
    },
  };
}
