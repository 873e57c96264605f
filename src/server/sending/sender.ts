import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setImmediate } from 'node:timers/promises';

import { ANSWER_BYTES_MAX, answerText } from './answer-text.ts';
import type { AttemptError } from './attempt-errors.ts';
import {
  type PhaseTimeouts,
  AttemptFailure,
  type ConnectedRequest,
  Connections,
  createResolve,
  type Phase,
  type ResolveHostname,
} from './connections.ts';
import { type AddressRule, createAddressRule } from './public-addresses.ts';
import { canonicalWebhookUrl } from './webhook-urls.ts';

/** A request to send; the sender adds `Host`, `Content-Length` and `Connection` to its headers. */
export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The status, the timings and the answer's text of an attempt; the status is null if there was no answer. */
export interface AttemptDetails {
  status: number | null;
  /** Whole milliseconds in each phase; null for a phase that wasn't entered. A kept connection has only `firstByte`. */
  phases: { dns: number | null; connect: number | null; tls: number | null; firstByte: number | null };
  /** Milliseconds from the start until the head of the answer, or until the attempt failed. */
  totalMs: number;
  /** The beginning of an answer that isn't 2xx; absent if it has no text. */
  answerText?: string | undefined;
}

export interface AttemptResult extends AttemptDetails {
  error: AttemptError | null;
  /** The seconds that the answer's `Retry-After` gives; undefined if it is missing or holds a date. */
  retryAfterSeconds?: number;
}

export interface Sender extends AsyncDisposable {
  /** Makes one attempt to send a request, and returns its result within the deadline plus 300 ms. It never rejects. */
  send: (request: WebhookRequest) => Promise<AttemptResult>;
}

export interface SenderOptions {
  /** Public addresses of the service that aren't on its machine's network interfaces; webhooks never call them. */
  ownAddresses?: readonly string[];
  /** The time limit for all phases together, in milliseconds; for tests, like every option below. */
  deadlineMs?: number;
  resolve?: ResolveHostname;
  isCallable?: AddressRule;
  port?: number;
  /** Certificate authorities in PEM, instead of those that Node trusts. */
  ca?: string;
}

/** The time limit for all phases together, in milliseconds (openapi.yaml, "Answer"). */
const DEADLINE_MS = 10_000;
const HTTPS_PORT = 443;

/**
 * Returns the sender of webhooks, which speaks HTTP/1.1 over TLS to public addresses. It has no proxy, redirects or cookies,
 * and doesn't read the body of a 2xx answer (openapi.yaml, "Webhooks").
 *
 * It uses Node's own client rather than undici. Both make 15,000 to 25,000 attempts a second on kept connections, with the
 * receiver on the same two cores; on new ones the handshakes limit them to 600 to 900. But undici offers HTTP/2 by default,
 * doesn't notice the end of an attempt while it connects, and restarts its time limit with each 103. Node's client also needs
 * no package.
 *
 * Disposing of the sender waits for the attempts under way and closes the connections; nothing can be sent afterwards.
 * @throws UsageError for an own address that isn't an IP address.
 */
export function createWebhookSender(options: SenderOptions = {}): Sender {
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

/** Returns the whole milliseconds since a time of `performance.now()`, unaffected by changes of the clock. */
export function millisecondsSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}

/** Returns the class of an error that ended a phase. */
function errorOf(thrown: unknown, phase: Phase | undefined): AttemptError {
  if (thrown instanceof AttemptFailure) return thrown.error;
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  // The receiver refused HTTP/1.1 in its handshake (RFC 7301 section 3.2), as one that has HTTP/2 alone does.
  if (code === 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL') return 'protocol';
  if (phase === 'connect' || phase === 'tls') return phase;
  if (/^ERR_(SSL|TLS)/.test(code)) return 'tls';
  // Error codes of the system begin with E and have no underscore: ECONNRESET, EPIPE, ETIMEDOUT, EHOSTUNREACH.
  return /^E[A-Z]+$/.test(code) || code.startsWith('ERR_STREAM') ? 'reset' : 'protocol';
}

interface Answer {
  status: number;
  /** The value of the header `Retry-After`, or an empty text. */
  retryAfter: string;
  /**
   * The text of an answer that isn't 2xx. It resolves within 250 ms, when the body was received or the connection is closed,
   * and never rejects.
   */
  passed: Promise<string | undefined>;
}

async function answerTo(
  means: Means,
  { url, headers, body }: WebhookRequest,
  attempt: PhaseTimeouts,
): Promise<Answer> {
  const { hostname, pathname, search } = calledUrl(url);
  const options: ConnectedRequest = {
    ...means,
    attempt,
    host: hostname,
    method: 'POST',
    path: pathname + search,
    headers: { Host: hostname, ...headers, 'Content-Length': Buffer.byteLength(body) },
    // Set here, so that Node's command line can't change them.
    maxHeaderSize: HEAD_BYTES_MAX,
    insecureHTTPParser: false,
  };
  // Waits a full turn of the event loop, so that the end of a kept connection is noticed if it has arrived.
  await setImmediate();
  await setImmediate();
  for (;;) {
    attempt.signal.throwIfAborted();
    const answer = await exchange(options, body);
    if (answer) return answer;
  }
}

/** Returns a stored URL, checked again as at its registration because rows may have been written by other means. */
function calledUrl(url: string): URL {
  try {
    return new URL(canonicalWebhookUrl(url));
  } catch (error) {
    throw new AttemptFailure('refused', { cause: error });
  }
}

const HEAD_BYTES_MAX = 16_384;
/** Maximum number of provisional answers (1xx) before the final one. */
const PROVISIONAL_MAX = 16;

/**
 * Sends a request, and returns the answer once its head has arrived.
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
      // Nothing is written before the certificate has been checked.
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
    // A switch of protocols (101) is an error, because none was offered.
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

/** Maximum bytes of a body that are received and discarded, so that the connection can be kept. */
const PASSED_BYTES_MAX = 16_384;
const PASSING_MS_MAX = 250;

/** Receives a short body, or closes the connection on a longer one. Returns the beginning of an answer that isn't 2xx. */
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
    // Node emits `close` when the answer has ended and the request has been written, if both ever happen.
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
