import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setImmediate } from 'node:timers/promises';

import { ANSWER_BYTES_MAX, answerText } from './answer-text.ts';
import type { AttemptError } from './attempt-errors.ts';
import {
  type Attempt,
  AttemptFailure,
  type ConnectedRequest,
  Connections,
  createResolve,
  type Phase,
  type Resolve,
} from './connections.ts';
import { type AddressRule, createAddressRule } from './public-addresses.ts';
import { canonicalWebhookUrl } from './webhook-urls.ts';

/** One delivery as it goes out: its headers are sent beside `Host`, `Content-Length` and `Connection`. */
export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The part of an attempt's result that is measured. */
export interface AttemptTimings {
  status: number | null;
  /** Whole milliseconds in each phase; null for one that wasn't entered. A kept connection has only `firstByte`. */
  phases: { dns: number | null; connect: number | null; tls: number | null; firstByte: number | null };
  /** Milliseconds until the head of the answer, or until the attempt failed. */
  totalMs: number;
  /** The beginning of an answer that isn't 2xx. */
  answerText?: string | undefined;
}

export interface AttemptResult extends AttemptTimings {
  error: AttemptError | null;
  /** The seconds of `Retry-After`; an answer may name none, or a day, which is passed over. */
  retryAfterSeconds?: number;
}

export interface Sender extends AsyncDisposable {
  /** Makes one attempt, which takes the deadline and 300 ms at the longest. It never rejects. */
  send: (request: WebhookRequest) => Promise<AttemptResult>;
}

export interface SenderOptions {
  /** Public addresses of the service that its machine doesn't have itself; webhooks never call them. */
  ownAddresses?: readonly string[];
  /** The time for all phases together; for tests, as everything below. */
  deadlineMs?: number;
  resolve?: Resolve;
  isCallable?: AddressRule;
  port?: number;
  /** Certificate authorities in PEM, instead of the usual ones. */
  ca?: string;
}

/** The time for all phases together (openapi.yaml, "Answer"). */
const DEADLINE_MS = 10_000;
const HTTPS_PORT = 443;

/**
 * Builds the sender of webhooks: HTTP/1.1 over TLS to public addresses, without proxy, redirects, cookies, or a look
 * at the body of a 2xx answer (openapi.yaml, "Webhooks").
 *
 * Node's own client does it. Against undici: both make 15,000 to 25,000 attempts a second on kept connections, with the
 * receiver on the same two cores, and on new ones the handshakes take the time (600 to 900). But undici offers HTTP/2
 * unless told otherwise, doesn't notice the end of an attempt while it connects, and restarts its time limit with each
 * 103; and Node's is no package.
 *
 * Disposing of it waits for the attempts under way and closes the connections; nothing may be sent after.
 * @throws UsageError for an own address that isn't one.
 */
export function createSender(options: SenderOptions = {}): Sender {
  const { ownAddresses, resolve = createResolve(), port = HTTPS_PORT, ca } = options;
  const { isCallable = createAddressRule(ownAddresses), deadlineMs = DEADLINE_MS } = options;
  const agent = new Connections(resolve, isCallable, ca);
  const underWay = new Set<Promise<AttemptResult>>();
  return {
    send: (request) => {
      const sent = send({ agent, port }, request, deadlineMs).finally(() => underWay.delete(sent));
      underWay.add(sent);
      return sent;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(underWay);
      agent.destroy();
    },
  };
}

type Means = Pick<ConnectedRequest, 'agent' | 'port'>;

async function send(means: Means, request: WebhookRequest, deadlineMs: number): Promise<AttemptResult> {
  const startedAt = performance.now();
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new AttemptFailure('timeout')), deadlineMs);
  const phases: AttemptResult['phases'] = { dns: null, connect: null, tls: null, firstByte: null };
  let phase: Phase | undefined;
  let enteredAt = 0;
  const enter = (next: Phase | undefined) => {
    if (phase) phases[phase] = millisecondsSince(enteredAt);
    phase = next;
    enteredAt = performance.now();
  };
  const result = (status: number | null, error: AttemptError | null): AttemptResult => {
    clearTimeout(timer);
    enter(undefined);
    return { status, error, phases, totalMs: millisecondsSince(startedAt) };
  };
  try {
    const { status, retryAfter, passed } = await answerTo(means, request, { signal: deadline.signal, enter });
    const wanted = /^\d{1,9}$/.test(retryAfter) ? { retryAfterSeconds: Number(retryAfter) } : {};
    const answered = { ...result(status, null), ...wanted };
    const text = await passed;
    return text === undefined ? answered : { ...answered, answerText: text };
  } catch (error) {
    return result(null, errorOf(error, phase));
  }
}

/** Whole milliseconds since a moment of `performance.now()`, which no change of the clock disturbs. */
export function millisecondsSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}

/** The class of an error that ended a phase. */
function errorOf(thrown: unknown, phase: Phase | undefined): AttemptError {
  if (thrown instanceof AttemptFailure) return thrown.error;
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  // A receiver refuses HTTP/1.1 in its handshake (RFC 7301 section 3.2), as one does that has HTTP/2 alone.
  if (code === 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL') return 'protocol';
  if (phase === 'connect' || phase === 'tls') return phase;
  if (/^ERR_(SSL|TLS)/.test(code)) return 'tls';
  // The system's errors begin with an E alone: ECONNRESET, EPIPE, ETIMEDOUT, EHOSTUNREACH.
  return /^E[A-Z]+$/.test(code) || code.startsWith('ERR_STREAM') ? 'reset' : 'protocol';
}

interface Answer {
  status: number;
  /** The header of that name, or an empty text. */
  retryAfter: string;
  /**
   * Resolves when the body was received or the connection is closed, in 250 ms at most, with the text of an answer that isn't
   * 2xx. It never rejects.
   */
  passed: Promise<string | undefined>;
}

async function answerTo(
  means: Means,
  { url, headers, body }: WebhookRequest,
  attempt: Attempt,
): Promise<Answer> {
  const { hostname, pathname, search } = calledUrl(url);
  const options: ConnectedRequest = {
    ...means,
    attempt,
    host: hostname,
    method: 'POST',
    path: pathname + search,
    headers: { Host: hostname, ...headers, 'Content-Length': Buffer.byteLength(body) },
    // Node's command line can't change either.
    maxHeaderSize: HEAD_BYTES_MAX,
    insecureHTTPParser: false,
  };
  // A whole turn of the event loop, in which the end of a kept connection is noticed if it has arrived.
  await setImmediate();
  await setImmediate();
  for (;;) {
    attempt.signal.throwIfAborted();
    const answer = await exchange(options, body);
    if (answer) return answer;
  }
}

/** Applies the rule of registration again, for rows that were written by other means. */
function calledUrl(url: string): URL {
  try {
    return new URL(canonicalWebhookUrl(url));
  } catch (error) {
    throw new AttemptFailure('refused', { cause: error });
  }
}

const HEAD_BYTES_MAX = 16_384;
/** Provisional answers (1xx) before the real one. */
const PROVISIONAL_MAX = 16;

/**
 * Sends a request, and waits for the head of the answer.
 * @returns undefined when a kept connection had ended before anything was sent.
 * @throws AttemptFailure, or an error of the connection or of the parser.
 */
function exchange(options: ConnectedRequest, body: string): Promise<Answer | undefined> {
  const { signal, enter } = options.attempt;
  return new Promise((resolve, reject) => {
    const request = httpsRequest(options);
    const fail = (error: Error) => {
      reject(error);
      request.destroy();
    };
    signal.addEventListener('abort', () => fail(signal.reason as AttemptFailure), { once: true });
    request.on('error', fail);
    const write = () => {
      enter('firstByte');
      request.end(body);
    };
    request.once('socket', (socket) => {
      // Nothing is written before the certificate was checked.
      if (!request.reusedSocket) socket.once('secureConnect', write);
      else if (!socket.destroyed) write();
      else {
        resolve(undefined);
        request.destroy();
      }
    });
    let provisionalCount = 0;
    request.on('information', () => {
      provisionalCount += 1;
      if (provisionalCount > PROVISIONAL_MAX) fail(new AttemptFailure('protocol'));
    });
    // Nothing was offered to switch to (101).
    request.once('upgrade', (_response, socket) => {
      socket.destroy();
      fail(new AttemptFailure('protocol'));
    });
    request.once('response', (response) => {
      // The parser gives every response a status.
      const { statusCode, headers } = response;
      const retryAfter = headers['retry-after'] ?? '';
      resolve({ status: statusCode as number, retryAfter, passed: letPass(request, response) });
    });
  });
}

/** A body up to this length is received and dropped, so that the connection can be kept. */
const PASSED_BYTES_MAX = 16_384;
const PASSING_MS_MAX = 250;

/** Drops a short body, and closes the connection on any other. Of an answer that isn't 2xx it reads the beginning first. */
async function letPass(request: ClientRequest, response: IncomingMessage): Promise<string | undefined> {
  const { statusCode = 0, headers } = response;
  const isRead = statusCode < 200 || statusCode > 299;
  // A body that breaks off doesn't matter: the status is known.
  response.on('error', () => undefined);
  if (!isShort(response) && !isRead) {
    request.destroy();
    return undefined;
  }
  const parts: Buffer[] = [];
  let byteCount = 0;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const hangUp = () => {
      response.socket.destroy();
      end();
    };
    const timer = setTimeout(hangUp, PASSING_MS_MAX);
    // Node closes a request when the answer has ended and the request has been written, if both ever come.
    request.once('close', end);
    if (!isRead) response.resume();
    else
      response.on('data', (part: Buffer) => {
        if (byteCount < ANSWER_BYTES_MAX) parts.push(part);
        byteCount += part.length;
        if (byteCount >= ANSWER_BYTES_MAX && !isShort(response)) hangUp();
      });
  });
  return isRead ? answerText(headers, Buffer.concat(parts).subarray(0, ANSWER_BYTES_MAX)) : undefined;
}

function isShort({ statusCode, headers }: IncomingMessage): boolean {
  return statusCode === 204 || Number(headers['content-length'] ?? Infinity) <= PASSED_BYTES_MAX;
}
