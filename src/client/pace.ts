import { type Clock, unlessAborted } from './waiting.ts';

/** The maximum number of concurrent requests of one client. */
const UNDER_WAY_MAX = 10;
/** The longest wait in seconds that the contract lets a response ask for. */
const SECONDS_MAX = 3_600;
/** A margin in milliseconds, because timers can fire early and clocks differ. */
const SLACK_MS = 25;

/** The current rate-limit window: what is left of it and when it ends, as far as this client knows. */
interface RateWindow {
  remaining: number;
  /** The end of the window by this machine's clock, in milliseconds: the earliest end that responses have given. */
  endsAt: number;
  /** Whether a response gave the window; otherwise it is assumed to begin with the first request after the last window. */
  isTold: boolean;
}

/** Permission to send one request. Call `done` when the request has ended. */
export interface Turn {
  /** Ends the turn. The response, if one arrived, updates the rate-limit window by its headers. */
  done: (answer?: Answer) => void;
}

/**
 * Gives each request its turn in order, so that the service never has to refuse one. Requests go out at once while the window
 * has any left, and then wait for its end (`RateLimit`): this is faster than spreading them evenly. The very first request
 * goes alone, because other programs may already have used the key.
 */
export class RateLimiter {
  readonly #clock: Clock;
  #window: RateWindow | undefined;
  #policy = { quota: Infinity, windowMs: 60_000 };
  #isFirst = true;
  #heldUntil = 0;
  #underWay = 0;
  /** A promise that settles when the last queued request has had its turn. */
  #line: Promise<unknown> = Promise.resolve();
  #onReturn = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits until a request may be sent, and returns its turn. */
  async nextTurn(signal: AbortSignal): Promise<Turn> {
    const turn = this.#line.then(() => this.#waitAtHead(signal));
    this.#line = turn.catch(() => undefined);
    try {
      return await unlessAborted(turn, signal);
    } catch (error) {
      // The turn may come after the caller has given up.
      turn.then(
        ({ done }) => done(),
        () => undefined,
      );
      throw error;
    }
  }

  /** Returns the minimum time in seconds that a number of requests takes, under the rate limit last received. */
  secondsFor(requestCount: number): number {
    const { quota, windowMs } = this.#policy;
    const { remaining = quota, endsAt = 0 } = this.#window ?? {};
    if (requestCount <= remaining) return 0;
    const windows = Math.floor((requestCount - remaining - 1) / Math.max(quota, 1));
    return Math.ceil((Math.max(0, endsAt - this.#clock.now()) + windows * windowMs) / 1000);
  }

  async #waitAtHead(signal: AbortSignal): Promise<Turn> {
    for (;;) {
      signal.throwIfAborted();
      const now = this.#clock.now();
      if (this.#window && now >= this.#window.endsAt) {
        const { quota, windowMs } = this.#policy;
        this.#window = { remaining: quota, endsAt: now + windowMs + SLACK_MS, isTold: false };
      }
      const window = this.#window;
      if (now < this.#heldUntil) await this.#clock.wait(this.#heldUntil - now, signal);
      else if (this.#underWay >= (this.#isFirst ? 1 : UNDER_WAY_MAX)) await this.#nextReturn(signal);
      else if (window && window.remaining <= 0) await this.#clock.wait(window.endsAt - now, signal);
      else return this.#take();
    }
  }

  async #nextReturn(signal: AbortSignal): Promise<void> {
    const returned = new Promise<void>((resolve) => {
      this.#onReturn = resolve;
    });
    await unlessAborted(returned, signal);
  }

  #take(): Turn {
    const window = this.#window;
    this.#underWay += 1;
    if (window) window.remaining -= 1;
    return {
      done: (answer) => {
        this.#isFirst = false;
        this.#underWay -= 1;
        if (answer) this.#learn(answer, window);
        this.#onReturn();
      },
    };
  }

  #learn({ status, headers }: Answer, counted: RateWindow | undefined): void {
    const now = this.#clock.now();
    if (status === 429) {
      const holdMs = boundedMs(parseRetryAfter(headers.get('Retry-After'))) + SLACK_MS;
      this.#heldUntil = Math.max(this.#heldUntil, now + holdMs);
    }
    const [quota, seconds] = numbersIn(headers, 'RateLimit-Policy', /;q=(\d{1,9});w=(\d{1,9})/);
    if (quota !== undefined) this.#policy = { quota, windowMs: boundedMs(seconds) };
    const [remaining, left] = numbersIn(headers, 'RateLimit', /;r=(\d{1,9});t=(\d{1,9})/);
    // A response to a request of an earlier window says nothing about the current one.
    if (remaining === undefined || counted !== this.#window) return;
    // The service rounds the seconds up, and counts them from the arrival of the request.
    const endsAt = now + boundedMs(left) + SLACK_MS;
    this.#window ??= { remaining, endsAt, isTold: true };
    // Responses may arrive out of order, and other programs may use the key: the lowest number and the earliest end win.
    this.#window.remaining = Math.min(this.#window.remaining, remaining);
    this.#window.endsAt = this.#window.isTold ? Math.min(this.#window.endsAt, endsAt) : endsAt;
    this.#window.isTold = true;
  }
}

function numbersIn(headers: Headers, name: string, form: RegExp): number[] {
  return (form.exec(headers.get(name) ?? '')?.slice(1) ?? []).map(Number);
}

/** The parts of a response that `Pace` reads: the rate-limit headers, and the status to detect a 429. */
type Answer = Pick<Response, 'status' | 'headers'>;

/**
 * Returns the seconds that a `Retry-After` header gives, or undefined if it is missing or malformed. The service writes a
 * number; a proxy in front of it may write a date (RFC 9110 section 10.2.3).
 */
export function parseRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const time = text.endsWith(' GMT') ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - Date.now()) / 1000));
}

function boundedMs(seconds = 0): number {
  return Math.min(seconds, SECONDS_MAX) * 1000;
}
