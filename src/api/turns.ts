/**
 * A turn takes one new connection, however many wait (libuv's pull request 3696): in turns as long as a crowd makes them
 * that is 65 a second, and a thousand that came at once, or a load balancer's question behind them, waited for 13 seconds.
 * So after a turn of this length that took one, requests wait while turns do nothing else but take the next, though for no
 * longer than a crowd's turn may last.
 */
const TAKING_TURN_MS = 0.5;

/** One turn of the event loop, from the first that came in it. */
export interface Turn {
  beganAt: number;
  requests: number;
  connections: number;
}

/** What the turns of the event loop tell of those who come. */
export interface Turns {
  /** The turn that goes on. */
  current: () => Turn;
  /** Since when every turn has been longer than it may be; those that only took connections don't count. */
  readonly crowdedSince: number | undefined;
  /** While connections are taken: until they are, or that has lasted as long as a turn may. */
  readonly taking: Promise<void> | undefined;
}

/** Follows the turns of the event loop, each of which may last for so long. */
export function followTurns({
  turnMsMax,
  takingTurnMs = TAKING_TURN_MS,
}: {
  turnMsMax: number;
  takingTurnMs?: number;
}): Turns {
  let turn: Turn | undefined;
  let crowdedSince: number | undefined;
  let taking: { since: number; promise: Promise<void>; resolve: () => void } | undefined;

  const begin = () => {
    const begun = { beganAt: performance.now(), requests: 0, connections: 0 };
    turn = begun;
    setImmediate(end, begun);
    return begun;
  };
  const end = ({ beganAt, connections }: Turn) => {
    turn = undefined;
    const now = performance.now();
    if (taking) {
      if (connections > 0 && now - taking.since <= turnMsMax) {
        begin();
      } else {
        taking.resolve();
        taking = undefined;
      }
      return;
    }
    const ms = now - beganAt;
    crowdedSince = ms > turnMsMax ? (crowdedSince ?? beganAt) : undefined;
    if (connections > 0 && ms > takingTurnMs) {
      const { promise, resolve }: PromiseWithResolvers<void> = Promise.withResolvers();
      taking = { since: now, promise, resolve };
      // A turn that nobody comes in has to end as well.
      begin();
    }
  };
  return {
    current: () => turn ?? begin(),
    get crowdedSince() {
      return crowdedSince;
    },
    get taking() {
      return taking?.promise;
    },
  };
}
