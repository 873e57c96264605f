import { type Clock, unlessAborted } from './waiting.ts';

/** Requests that one client has under way at once. */
const UNDER_WAY_MAX = 10;
/** The longest wait that the contract lets an answer ask for. */
const SECONDS_MAX = 3_600;
/** A margin for early timers and clocks that differ. */
const SLACK_MS = 25;

/** A window of the rate limit, as far as this client knows it. */
interface RateWindow {
  remaining: number;
  /** The window is over by then: each answer gives such a time, and the earliest holds. */
  endsAt: number;
  /** Whether an answer told of it; otherwise it is taken to begin when the last one ended. */
  isTold: boolean;
}

/** The permission to send one request. Give it back with `done`. */
export interface Turn {
  /** Takes the answer's headers into account, or says that none came. */
  done: (answer?: Answer) => void;
}

/**
 * Lets requests through, one after the other, so that the service never has to refuse one. They go out as they come
 * while the window has some left, and then wait for its end (`RateLimit`): everything is done earlier than if they were
 * spread evenly. The first request of all goes alone, because others may have used the key before.
 */
export class Pace {
  readonly #clock: Clock;
  #window: RateWindow | undefined;
  #policy = { quota: Infinity, windowMs: 60_000 };
  #isFirst = true;
  #heldUntil = 0;
  #underWay = 0;
  /** Settles when the last request in the line has had its turn. */
  #line: Promise<unknown> = Promise.resolve();
  #onReturn = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits until a request may be sent. */
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

  /** The seconds that so many requests take at least, by what the service has last told of its limit. */
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
      const holdMs = boundedMs(secondsIn(headers.get('Retry-After'))) + SLACK_MS;
      this.#heldUntil = Math.max(this.#heldUntil, now + holdMs);
    }
    const [quota, seconds] = numbersIn(headers, 'RateLimit-Policy', /;q=(\d{1,9});w=(\d{1,9})/);
    if (quota !== undefined) this.#policy = { quota, windowMs: boundedMs(seconds) };
    const [remaining, left] = numbersIn(headers, 'RateLimit', /;r=(\d{1,9});t=(\d{1,9})/);
    // An answer to a request of an earlier window says nothing about this one.
    if (remaining === undefined || counted !== this.#window) return;
    // The service rounds up, and counted the seconds from when the request came in.
    const endsAt = now + boundedMs(left) + SLACK_MS;
    this.#window ??= { remaining, endsAt, isTold: true };
    // Answers may be out of order, and others may use the key, so the lowest number and the earliest end win.
    this.#window.remaining = Math.min(this.#window.remaining, remaining);
    this.#window.endsAt = this.#window.isTold ? Math.min(this.#window.endsAt, endsAt) : endsAt;
    this.#window.isTold = true;
  }
}

function numbersIn(headers: Headers, name: string, form: RegExp): number[] {
  return (form.exec(headers.get(name) ?? '')?.slice(1) ?? []).map(Number);
}

/** The headers that the pace follows, and the status that a refusal has. */
type Answer = Pick<Response, 'status' | 'headers'>;

/**
 * The seconds of a `Retry-After`, undefined where there is none or it has another form. The service writes a number; a
 * proxy before it may write a date (RFC 9110 section 10.2.3).
 */
export function secondsIn(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const time = text.endsWith(' GMT') ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - Date.now()) / 1000));
}

function boundedMs(seconds = 0): number {
  return Math.min(seconds, SECONDS_MAX) * 1000;
}
