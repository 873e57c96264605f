import type { ErrorCode } from '../contract/operations.ts';
import { ApiError, brokenContract, NoAnswerError } from './errors.ts';
import { type RateLimiter, parseRetryAfter } from './pace.ts';
import { anySignal, type Clock, unlessAborted } from './waiting.ts';

/** A cached response body with its `ETag`. */
export interface StoredAnswer {
  /** The response's `ETag` header. */
  etag: string;
  /** The JSON text of the response's body. */
  body: string;
}

/**
 * A cache of responses by URL, so that unchanged ones aren't downloaded again. A `Map` or any other object with these two
 * functions will do. Use a separate store for each company.
 */
export interface EtagStore {
  /** Returns the response stored for a URL; undefined if there is none. */
  get: (url: string) => StoredAnswer | undefined | Promise<StoredAnswer | undefined>;
  /** Stores a response in place of any earlier one for the URL. A returned promise is awaited. */
  set: (url: string, answer: StoredAnswer) => unknown;
}

export interface ExchangeSettings {
  baseUrl: string;
  key: string;
  headers: Record<string, string>;
  fetch: ((request: Request) => Promise<Response>) | undefined;
  etags: EtagStore | undefined;
  maxRetries: number;
  retryTimeMs: number;
  timeoutMs: number;
  clock: Clock;
  pace: RateLimiter;
}

export interface ApiRequest {
  path: string;
  ids: Record<string, string>;
  query: Record<string, unknown>;
  signal: AbortSignal;
}

export interface HttpAnswer {
  bytes: Uint8Array<ArrayBuffer>;
  /** The parsed body; undefined if it isn't JSON. */
  json: unknown;
  headers: Headers;
}

/** A function that sends a request within the rate limit, and retries it where that can help. */
export type HttpExchange = (ask: ApiRequest) => Promise<HttpAnswer>;

/** The first and the longest wait in milliseconds before a retry, unless the response gives a wait. */
const RETRY_MS = { first: 500, max: 60_000 };
const JITTER_MS_MAX = 5_000;
/** The HTTP statuses that are retried, with those of proxies (Cloudflare's 520 to 524): repeating a read does no harm. */
const TEMPORARY_STATUSES = [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524];
/** The maximum size of a response body in megabytes; the service never sends one so large. */
const ANSWER_MEGABYTES_MAX = 64;

/** Returns the function with which a client sends its requests. */
export function createExchange(settings: ExchangeSettings): HttpExchange {
  const { etags, clock } = settings;
  return async (ask) => {
    const url = addressOf(ask, settings.baseUrl);
    const stored = await etags?.get(url);
    let retriesEndAt: number | undefined;
    for (let retries = 0; ; retries += 1) {
      const outcome = await sendOnce(url, settings, ask, stored);
      if (!(outcome instanceof Error)) {
        await keep(etags, url, outcome, stored);
        return outcome;
      }
      const delayMs = retryDelayMs(outcome, retries);
      retriesEndAt ??= clock.now() + settings.retryTimeMs;
      const isOver = retries >= settings.maxRetries || clock.now() + delayMs > retriesEndAt;
      if (isOver || !isTemporary(outcome)) throw outcome;
      await clock.wait(delayMs, ask.signal);
    }
  };
}

function addressOf({ path, ids, query }: ApiRequest, baseUrl: string): string {
  const named = path.replaceAll(/\{(\w+)\}/g, (_part, name: string) => encodeURIComponent(ids[name] ?? ''));
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const pairs = given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return `${baseUrl}${named}${pairs.length > 0 ? '?' : ''}${pairs.join('&')}`;
}

async function sendOnce(
  url: string,
  settings: ExchangeSettings,
  ask: ApiRequest,
  stored: StoredAnswer | undefined,
): Promise<HttpAnswer | Failure> {
  const { pace, timeoutMs, fetch = globalThis.fetch } = settings;
  const turn = await pace.nextTurn(ask.signal);
  let answered: Response | undefined;
  try {
    const signal = anySignal(ask.signal, AbortSignal.timeout(timeoutMs));
    const headers = { ...settings.headers, ...(stored && { 'If-None-Match': stored.etag }) };
    // The API never redirects, and the key must not reach another host.
    const request = new Request(url, { headers, redirect: 'manual', signal });
    // A `fetch` supplied by the user may ignore the signal.
    const response = await unlessAborted(fetch(request).then(bounded), signal);
    const bytes = new Uint8Array(await unlessAborted(response.arrayBuffer(), signal));
    answered = response;
    if (response.status === 304 && stored)
      return answerOf(new TextEncoder().encode(stored.body), response.headers);
    const answer = answerOf(bytes, response.headers);
    if (!response.ok) return apiError(ask, response, answer.json, settings.key);
    if (answer.json === undefined && isJson(response.headers) && !hasEnd(response.headers))
      throw new Error('its JSON is cut off');
    return answer;
  } catch (cause) {
    ask.signal.throwIfAborted();
    return new NoAnswerError(`GET ${ask.path}: no answer came (${reasonOf(cause)}).`, { cause });
  } finally {
    turn.done(answered);
  }
}

function answerOf(bytes: Uint8Array<ArrayBuffer>, headers: Headers): HttpAnswer {
  return { bytes, json: jsonIn(bytes), headers };
}

function jsonIn(bytes: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    // JSON.parse accepts values nested too deeply for JSON.stringify.
    JSON.stringify(value);
    return value;
  } catch {
    return undefined;
  }
}

/** Whether a response's headers show where its body ends, so that `fetch` fails if it is cut off. */
function hasEnd(headers: Headers): boolean {
  return headers.has('Content-Length') || headers.has('Transfer-Encoding');
}

function isJson(headers: Headers): boolean {
  return headers.get('Content-Type')?.startsWith('application/json') ?? false;
}

/** The error for a response body above the maximum size; the request isn't retried. */
class TooLongError extends Error {}

/** Returns a response whose body fails once it exceeds {@link ANSWER_MEGABYTES_MAX}. */
function bounded(response: Response): Response {
  if (!response.body) return response;
  let bytesLeft = ANSWER_MEGABYTES_MAX * 2 ** 20;
  const limit = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      bytesLeft -= chunk.length;
      if (bytesLeft < 0)
        controller.error(new TooLongError(`its body is longer than ${ANSWER_MEGABYTES_MAX} MB`));
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(limit), response);
}

/**
 * Returns a key or token without surrounding whitespace, such as the newline at the end of a file.
 * @throws TypeError that doesn't show it, as the runtimes' own errors about headers would.
 */
export function checkedSecret(name: string, what: string, secret: unknown): string {
  const text = typeof secret === 'string' ? secret.trim() : '';
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new TypeError(`${name} must be ${what}: visible ASCII without spaces.`);
}

type Failure = ApiError | NoAnswerError;

/** Returns an error's message followed by those of its causes, because Node's `fetch failed` has the reason in its cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'for no known reason';
  return error.cause instanceof Error ? `${error.message}: ${reasonOf(error.cause)}` : error.message;
}

async function keep(
  etags: EtagStore | undefined,
  url: string,
  { bytes, headers }: HttpAnswer,
  stored: StoredAnswer | undefined,
): Promise<void> {
  const etag = headers.get('ETag');
  // PDFs aren't cached.
  if (!etags || etag === null || !isJson(headers) || etag === stored?.etag) return;
  await etags.set(url, { etag, body: new TextDecoder().decode(bytes) });
}

function isTemporary(failure: Failure): boolean {
  if (failure instanceof NoAnswerError) return !(failure.cause instanceof TooLongError);
  return TEMPORARY_STATUSES.includes(failure.status) && failure.code !== 'invoicing_not_enabled';
}

/**
 * Returns the milliseconds to wait before the next attempt, with jitter: at least the `Retry-After`, and doubled each time
 * except after a 429 that has one. A `Retry-After` of zero is ignored: a proxy's date may have passed by now.
 */
function retryDelayMs(failure: Failure, retries: number): number {
  const { status, retryAfter = 0 } = failure instanceof ApiError ? failure : {};
  const askedMs = Math.max(retryAfter * 1000, RETRY_MS.first);
  const growth = status === 429 && retryAfter > 0 ? 1 : 2 ** retries;
  const delayMs = Math.min(askedMs * growth, Math.max(askedMs, RETRY_MS.max));
  return delayMs + Math.random() * Math.min(delayMs / 2, JITTER_MS_MAX);
}

/** The maximum number of characters shown of a server's error message; the API's messages are shorter. */
const MESSAGE_CHARACTERS_MAX = 2_000;

/** Returns a server's message on one line: a line break could make part of it look like a command's own output. */
export function inOneLine(said: unknown): string {
  return (typeof said === 'string' ? said : '').replaceAll(/\s+/gu, ' ').slice(0, MESSAGE_CHARACTERS_MAX);
}

/** Returns the error for a failed response, with the key masked in case the server repeats it. */
function apiError({ path }: ApiRequest, { status, headers }: Response, body: unknown, key: string): ApiError {
  // The contract's error format, unless something other than the API has responded.
  const { code, message } = (body as { error?: { code?: ErrorCode; message?: unknown } } | null)?.error ?? {};
  const isOurs = typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) && !code.includes(key);
  const said = isOurs ? `${code}: ${inOneLine(message)}` : 'this is not an answer of the API';
  const location = headers.get('Location')?.replaceAll(key, '[the key]');
  // The API never redirects, but a proxy in front of it may, from http to https.
  const lead = location === undefined ? '' : `; it leads to ${location}`;
  return new ApiError(`GET ${path}: ${status} ${said.replaceAll(key, '[the key]')}${lead}`, {
    status,
    code: isOurs ? code : undefined,
    requestId: requestIdIn(headers),
    retryAfter: parseRetryAfter(headers.get('Retry-After')),
  });
}

/** Returns the error for a successful response whose content isn't as the contract says. */
export function unreadableResponseError(path: string, headers: Headers): ApiError {
  return brokenContract(`GET ${path}: 200, but this is not an answer of the API`, requestIdIn(headers));
}

/** Returns a response's request id; undefined if it has none in the expected format, so that no key is taken for an id. */
function requestIdIn(headers: Headers): string | undefined {
  const id = headers.get('X-Request-Id') ?? '';
  return /^[\w-]{1,100}$/.test(id) ? id : undefined;
}
