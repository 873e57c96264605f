import type { ErrorCode } from '../contract/operations.ts';
import { ApiError, brokenContract, NoAnswerError } from './errors.ts';
import { type Pace, secondsIn } from './pace.ts';
import { anyOf, type Clock, unlessAborted } from './waiting.ts';

/** An answer with the `ETag` that names it. */
export interface StoredAnswer {
  /** Names the body. */
  etag: string;
  /** The JSON text of the answer. */
  body: string;
}

/**
 * Keeps answers by their address, so that what hasn't changed isn't sent again. A `Map` is such a store, and so is
 * anything else that has these two functions. Give each company a store of its own.
 */
export interface EtagStore {
  /** The answer that was kept for an address, if there is one. */
  get: (url: string) => StoredAnswer | undefined | Promise<StoredAnswer | undefined>;
  /** Keeps an answer in place of the one before. A promise is waited for. */
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
  pace: Pace;
}

export interface Ask {
  path: string;
  ids: Record<string, string>;
  query: Record<string, unknown>;
  signal: AbortSignal;
}

export interface HttpAnswer {
  bytes: Uint8Array<ArrayBuffer>;
  /** The value of the body; undefined where the body isn't JSON. */
  json: unknown;
  headers: Headers;
}

/** Sends a request in the pace of the rate limit, and again where that can help. */
export type HttpExchange = (ask: Ask) => Promise<HttpAnswer>;

/** The first and the longest wait before another try, where the answer doesn't say how long. */
const RETRY_MS = { first: 500, max: 60_000 };
const JITTER_MS_MAX = 5_000;
/** Statuses to try again after, those of proxies (Cloudflare's 520 to 524) included: reading again does no harm. */
const TEMPORARY_STATUSES = [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524];
/** Longer than any answer of the service. */
const ANSWER_MEGABYTES_MAX = 64;

/** Creates the way of one client to the service. */
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

function addressOf({ path, ids, query }: Ask, baseUrl: string): string {
  const named = path.replaceAll(/\{(\w+)\}/g, (_part, name: string) => encodeURIComponent(ids[name] ?? ''));
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const pairs = given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return `${baseUrl}${named}${pairs.length > 0 ? '?' : ''}${pairs.join('&')}`;
}

async function sendOnce(
  url: string,
  settings: ExchangeSettings,
  ask: Ask,
  stored: StoredAnswer | undefined,
): Promise<HttpAnswer | Failure> {
  const { pace, timeoutMs, fetch = globalThis.fetch } = settings;
  const turn = await pace.nextTurn(ask.signal);
  let answered: Response | undefined;
  try {
    const signal = anyOf(ask.signal, AbortSignal.timeout(timeoutMs));
    const headers = { ...settings.headers, ...(stored && { 'If-None-Match': stored.etag }) };
    // The API never redirects, and nobody else may get the key.
    const request = new Request(url, { headers, redirect: 'manual', signal });
    // The user's own fetch may ignore signals.
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
    // JSON.parse accepts values that nest too deep for JSON.stringify.
    JSON.stringify(value);
    return value;
  } catch {
    return undefined;
  }
}

/** Whether the answer's length is known, so that fetch fails if it is cut off. */
function hasEnd(headers: Headers): boolean {
  return headers.has('Content-Length') || headers.has('Transfer-Encoding');
}

function isJson(headers: Headers): boolean {
  return headers.get('Content-Type')?.startsWith('application/json') ?? false;
}

/** An answer was too long, so trying again is useless. */
class TooLongError extends Error {}

/** Stops reading an answer that is too long. */
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
 * A key or a token without the space around it, which files and settings may end with.
 * @throws TypeError that doesn't show it, as the runtimes' errors about headers would.
 */
export function checkedSecret(name: string, what: string, secret: unknown): string {
  const text = typeof secret === 'string' ? secret.trim() : '';
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new TypeError(`${name} must be ${what}: visible ASCII without spaces.`);
}

type Failure = ApiError | NoAnswerError;

/** Node's `fetch failed` says why in its cause. */
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
  // PDFs aren't stored here.
  if (!etags || etag === null || !isJson(headers) || etag === stored?.etag) return;
  await etags.set(url, { etag, body: new TextDecoder().decode(bytes) });
}

function isTemporary(failure: Failure): boolean {
  if (failure instanceof NoAnswerError) return !(failure.cause instanceof TooLongError);
  return TEMPORARY_STATUSES.includes(failure.status) && failure.code !== 'invoicing_not_enabled';
}

/**
 * The wait before the next try. It doubles each time, and is at least what the answer asks for; after a 429 that says when its
 * window ends, it is exactly that. A wait of zero is ignored: a proxy's date may be over before it is read.
 */
function retryDelayMs(failure: Failure, retries: number): number {
  const { status, retryAfter = 0 } = failure instanceof ApiError ? failure : {};
  const askedMs = Math.max(retryAfter * 1000, RETRY_MS.first);
  const growth = status === 429 && retryAfter > 0 ? 1 : 2 ** retries;
  const delayMs = Math.min(askedMs * growth, Math.max(askedMs, RETRY_MS.max));
  return delayMs + Math.random() * Math.min(delayMs / 2, JITTER_MS_MAX);
}

/** More than any message of the API has. */
const MESSAGE_CHARACTERS_MAX = 2_000;

/** The words of a server, which may not write lines of its own beside those of a command. */
export function inOneLine(said: unknown): string {
  return (typeof said === 'string' ? said : '').replaceAll(/\s+/gu, ' ').slice(0, MESSAGE_CHARACTERS_MAX);
}

/** The error of an answer, without the key, in case the server repeats it. */
function apiError({ path }: Ask, { status, headers }: Response, body: unknown, key: string): ApiError {
  // The contract's form of an error, unless something else answers in its place.
  const { code, message } = (body as { error?: { code?: ErrorCode; message?: unknown } } | null)?.error ?? {};
  const isOurs = typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) && !code.includes(key);
  const said = isOurs ? `${code}: ${inOneLine(message)}` : 'this is not an answer of the API';
  const location = headers.get('Location')?.replaceAll(key, '[the key]');
  // The API never redirects, but a proxy before it may, from http to https.
  const lead = location === undefined ? '' : `; it leads to ${location}`;
  return new ApiError(`GET ${path}: ${status} ${said.replaceAll(key, '[the key]')}${lead}`, {
    status,
    code: isOurs ? code : undefined,
    requestId: requestIdIn(headers),
    retryAfter: secondsIn(headers.get('Retry-After')),
  });
}

/** The error for a successful answer that can't be read. */
export function unreadable(path: string, headers: Headers): ApiError {
  return brokenContract(`GET ${path}: 200, but this is not an answer of the API`, requestIdIn(headers));
}

/** The id of an answer; no other text, such as a key, which has dots. */
function requestIdIn(headers: Headers): string | undefined {
  const id = headers.get('X-Request-Id') ?? '';
  return /^[\w-]{1,100}$/.test(id) ? id : undefined;
}
