import { setImmediate } from 'node:timers/promises';

import {
  type Attempt,
  type AttemptError,
  attemptErrorOf,
  AttemptFailure,
  millisecondsSince,
  type PhaseTimes,
  watchPhases,
} from './attempt.ts';
import { createConnect } from './connection.ts';
import { ConnectionPool } from './connection-pool.ts';
import { type Answer, exchange, NothingSent } from './exchange.ts';
import { type AddressRule, createAddressRule } from './public-addresses.ts';
import { createResolve, type Resolve } from './resolver.ts';
import { canonicalWebhookUrl } from './webhook-urls.ts';

/** One delivery as it goes out: its headers are sent beside `Host`, `Content-Length` and `Connection`. */
export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface AttemptResult {
  /** The status of the answer, or null when `error` says why there is none. */
  status: number | null;
  error: AttemptError | null;
  /** Milliseconds in each phase that was entered; a kept connection has only `firstByte`. */
  phases: PhaseTimes;
  /** Milliseconds until the head of the answer, or until the attempt failed. */
  totalMs: number;
}

export interface Sender extends AsyncDisposable {
  /** Makes one attempt, which takes the deadline and 300 ms at the longest. It never rejects. */
  send: (request: WebhookRequest) => Promise<AttemptResult>;
}

export interface SenderOptions {
  /** Public addresses of the service that its machine doesn't have itself; webhooks never call them. */
  ownAddresses?: readonly string[];
  /** For tests, as everything below: the time for all phases together (openapi.yaml, "Answer"). */
  deadlineMs?: number;
  resolve?: Resolve;
  isCallable?: AddressRule;
  port?: number;
  /** Certificate authorities in PEM, instead of the usual ones. */
  ca?: string;
}

const DEADLINE_MS = 10_000;
const HTTPS_PORT = 443;

/**
 * Builds the sender of webhooks: HTTP/1.1 over TLS to public addresses, without proxy, redirects, cookies, or a look
 * at the body of the answer (openapi.yaml, "Webhooks").
 *
 * Disposing of it waits for the attempts under way and closes the connections; nothing may be sent after.
 * @throws UsageError for an own address that isn't one.
 */
export function createSender(options: SenderOptions = {}): Sender {
  const { ownAddresses, resolve = createResolve(), port = HTTPS_PORT, ca } = options;
  const { isCallable = createAddressRule(ownAddresses), deadlineMs = DEADLINE_MS } = options;
  const pool = new ConnectionPool(createConnect({ resolve, isCallable, port, ca }));
  const underWay = new Set<Promise<AttemptResult>>();
  return {
    send: (request) => {
      const attempt = send(pool, request, deadlineMs).finally(() => underWay.delete(attempt));
      underWay.add(attempt);
      return attempt;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(underWay);
      pool.destroy();
    },
  };
}

/** Whether the receiver has the delivery now (openapi.yaml, "Answer"). */
export function isDelivered({ status }: AttemptResult): boolean {
  return status !== null && status >= 200 && status < 300;
}

async function send(
  pool: ConnectionPool,
  request: WebhookRequest,
  deadlineMs: number,
): Promise<AttemptResult> {
  const startedAt = performance.now();
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), deadlineMs);
  const phases = watchPhases();
  const result = (status: number | null, error: AttemptError | null): AttemptResult => {
    clearTimeout(timer);
    phases.leave();
    return { status, error, phases: phases.times(), totalMs: millisecondsSince(startedAt) };
  };
  try {
    const { status, passed } = await answerTo(pool, request, { signal: deadline.signal, phases });
    const answered = result(status, null);
    await passed;
    return answered;
  } catch (error) {
    return result(null, attemptErrorOf(error));
  }
}

async function answerTo(pool: ConnectionPool, request: WebhookRequest, attempt: Attempt): Promise<Answer> {
  const call = { ...targetOf(request.url), headers: request.headers, body: Buffer.from(request.body) };
  // A whole turn of the event loop, in which the end of a kept connection is noticed if it has arrived.
  await setImmediate();
  await setImmediate();
  try {
    return await exchange(pool, call, attempt);
  } catch (error) {
    if (!(error instanceof NothingSent)) throw error;
    pool.forget(call.host);
    return await exchange(pool, call, attempt);
  }
}

/** Applies the rule of registration again, for rows that were written by other means. */
function targetOf(url: string): { host: string; path: string } {
  try {
    const { hostname, pathname, search } = new URL(canonicalWebhookUrl(url));
    return { host: hostname, path: pathname + search };
  } catch (error) {
    throw new AttemptFailure('refused', { cause: error });
  }
}
