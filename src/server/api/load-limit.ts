import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

import { unavailable } from '../../errors.ts';

/** Milliseconds between measurements of the event loop's delay; each may change the share of requests that are refused. */
const LOOK_MS = 100;
const RESOLUTION_MS = 10;
/** Minimum number of requests between two measurements for which a delay is blamed on load. */
const REQUESTS_MIN = 100;
const SHARE_UP = 0.1;
const SHARE_DOWN = 0.05;
const RETRY_SECONDS = 1;

export interface LoadBounds {
  /** Maximum number of requests being handled at once. PostgreSQL takes a tenth of a second to answer that many. */
  inFlightMax?: number;
  /** Event loop delay, in milliseconds, above which the server counts as overloaded. */
  delayMsMax?: number;
  /** Approximate milliseconds before a refusal is sent, because clients that ignore Retry-After retry when it arrives. */
  refusalMs?: number;
}

/** State of the event loop: its mean delay in milliseconds at the last measurement, and the number of measurements. */
interface EventLoop {
  delayMs: number;
  looks: number;
}

/** The event loop's state, which all servers in the process share; undefined before the first of them. */
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
 * Limits waiting and memory use under sustained overload by refusing some requests with 503 and `Retry-After: 1`.
 * @returns a function that admits a request and resolves with a function that releases its place, which can safely be called
 * more than once. To refuse a request, it rejects with AppError `unavailable`.
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
      // Varies the delay so that clients refused together don't retry together.
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
