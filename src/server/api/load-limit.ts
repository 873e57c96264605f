import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

import { unavailable } from '../../errors.ts';

/** The event loop's delay is measured this often, and sets the share of requests that is refused until the next time. */
const LOOK_MS = 100;
const RESOLUTION_MS = 10;
/** Fewer requests between two measurements can't be the cause of a delay. */
const REQUESTS_MIN = 100;
const SHARE_UP = 0.1;
const SHARE_DOWN = 0.05;
const RETRY_SECONDS = 1;

export interface LoadBounds {
  /** Requests that wait for the database at once. PostgreSQL takes a tenth of a second for so many. */
  inFlightMax?: number;
  /** Delay of the event loop, in milliseconds, above which the server counts as overloaded. */
  delayMsMax?: number;
  /** Clients that ignore Retry-After ask again as soon as they are refused, so a refusal waits about this long. */
  refusalMs?: number;
}

/** The delay of the process' event loop, in milliseconds, since the measurement before, and how many there have been. */
interface EventLoop {
  delayMs: number;
  looks: number;
}

/** One for all servers of the process: it measures as long as the process lives. */
let eventLoop: EventLoop | undefined;

function watchEventLoop(): EventLoop {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const loop = { delayMs: 0, looks: 0 };
  const look = () => {
    loop.delayMs = delay.mean / 1e6 - RESOLUTION_MS;
    loop.looks += 1;
    delay.reset();
  };
  setInterval(look, LOOK_MS).unref();
  return loop;
}

/**
 * Bounds waiting and memory under sustained overload: some requests then get 503 with `Retry-After: 1`.
 * @returns a function that lets one request in and resolves with the way to give its place back, which may be called more
 *   than once; it rejects with AppError `unavailable` for a request that is one too many.
 */
export function createLoadLimit({ inFlightMax = 300, delayMsMax = 30, refusalMs = 1_000 }: LoadBounds = {}) {
  const loop = (eventLoop ??= watchEventLoop());
  let { looks } = loop;
  let inFlight = 0;
  let requests = 0;
  let refusedShare = 0;
  const look = () => {
    const isLate = loop.delayMs > delayMsMax && requests > REQUESTS_MIN;
    const down = SHARE_DOWN * (loop.looks - looks);
    refusedShare = isLate ? Math.min(1, refusedShare + SHARE_UP) : Math.max(0, refusedShare - down);
    requests = 0;
    ({ looks } = loop);
  };
  return async (): Promise<() => void> => {
    if (loop.looks > looks) look();
    requests += 1;
    if (inFlight >= inFlightMax || (refusedShare > 0 && Math.random() < refusedShare)) {
      // Varies the wait, so that clients that were refused together don't return together.
      await pause(refusalMs * (0.5 + Math.random()));
      throw unavailable({ retryAfterSeconds: RETRY_SECONDS });
    }
    inFlight += 1;
    let isIn = true;
    return () => {
      if (isIn) inFlight -= 1;
      isIn = false;
    };
  };
}
