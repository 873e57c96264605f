import type { OperationId } from '../contract/operations.ts';
import { checkedSecret, createExchange, unreadableResponseError } from './exchange.ts';
import type { HttpAnswer, ApiRequest, EtagStore, HttpExchange } from './exchange.ts';
import { createListing } from './listing.ts';
import type { Page } from './listing.ts';
import { operations } from './operations.ts';
import type { CallOptions, DownloadedFile, Operation } from './operations.ts';
import { RateLimiter } from './pace.ts';
import { anySignal, machineClock } from './waiting.ts';
import type { Clock } from './waiting.ts';

/** Options for `createClient`. */
export interface ClientOptions {
  /** The service's base address, with or without `/api/v1` at its end. */
  baseUrl: string;
  /** The API key. It is a secret: never put it into a browser or an app. */
  key: string;
  /** The function that sends requests; by default the runtime's own `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
  /** A cache of responses, such as `new Map()`, from which unchanged ones are taken; none by default. */
  etags?: EtagStore;
  /** The maximum number of retries of a call; 5 by default. */
  maxRetries?: number;
  /** Milliseconds after the first failure for which a call is retried; two minutes by default. */
  retryTimeMs?: number;
  /** The timeout of a single request in milliseconds; one minute by default. */
  timeoutMs?: number;
  /** A signal that aborts all the client's calls. */
  signal?: AbortSignal;
  /** The `User-Agent` header to send, where the runtime allows it. */
  userAgent?: string;
  /** A function that waits for a number of milliseconds, in place of the machine's timer; for tests. */
  wait?: Clock['wait'];
  /** A function that returns a monotonic time in milliseconds, in place of the machine's clock; for tests. */
  now?: Clock['now'];
}

/**
 * The API's operations as functions, named as in the contract. A call takes the ids in its path, then its query, then
 * `{ signal }`. It fails with an `ApiError`, a `NoAnswerError` or the signal's abort reason.
 */
export interface Client {
  /** Lists jobs, including completed ones. */
  listJobs: Operation<'listJobs'>;
  /** Gets one job. */
  getJob: Operation<'getJob'>;
  /** Lists the active members of the company. */
  listPeople: Operation<'listPeople'>;
  /** Lists published and unpublished forms, with their fields. */
  listForms: Operation<'listForms'>;
  /** Lists the submissions of one form. */
  listFormSubmissions: Operation<'listFormSubmissions'>;
  /** Lists customers, including archived ones. */
  listCustomers: Operation<'listCustomers'>;
  /** Gets one customer. */
  getCustomer: Operation<'getCustomer'>;
  /** Lists quotes without their lines: the latest version of each, unless `versions` is `all`. */
  listQuotes: Operation<'listQuotes'>;
  /** Gets one version of a quote, with its lines. */
  getQuote: Operation<'getQuote'>;
  /** Lists invoices, credit notes and pro formas without their lines: issued ones, unless `status` says otherwise. */
  listInvoices: Operation<'listInvoices'>;
  /** Gets one invoice, credit note or pro forma with its lines. */
  getInvoice: Operation<'getInvoice'>;
  /** Downloads the PDF of an invoice, credit note or pro forma. */
  getInvoicePdf: Operation<'getInvoicePdf'>;
}

/** The contract's maximum number of records per page. Lists ask for it, so that they need the fewest requests. */
const LIMIT_MAX = 100;

/** Returns a client of the API. Use one client for each API key, because the rate limit applies to the key. */
export function createClient(options: ClientOptions): Client {
  return createPacedClient(new RateLimiter(clockOf(options)), options);
}

function clockOf({ now, wait }: ClientOptions): Clock {
  return { now: now ?? machineClock.now, wait: wait ?? machineClock.wait };
}

/** Returns a client that shares the caller's `Pace`, and thus its rate limit. */
export function createPacedClient(pace: RateLimiter, options: ClientOptions): Client {
  const key = checkedSecret('key', 'an API key', options.key);
  const exchange = createExchange({
    baseUrl: checkedBaseUrl(options.baseUrl),
    key,
    headers: {
      Authorization: `Bearer ${key}`,
      ...(options.userAgent !== undefined && { 'User-Agent': options.userAgent }),
    },
    fetch: options.fetch,
    etags: options.etags,
    maxRetries: options.maxRetries ?? 5,
    retryTimeMs: options.retryTimeMs ?? 120_000,
    timeoutMs: checkedTimeout(options.timeoutMs ?? 60_000),
    clock: clockOf(options),
    pace,
  });
  const methods = Object.entries(operations).map(([id, operation]) => [
    id,
    methodOf(operation, exchange, options.signal),
  ]);
  // The compiler can't type the loop's result, but it has checked `operations` against the contract.
  const client: Client = Object.fromEntries(methods) as { [Id in OperationId]: Operation<Id> };
  // A client that lacks an operation of the contract doesn't compile.
  return client satisfies { [Id in OperationId]: Operation<Id> };
}

/** Returns a service's address without a trailing `/api/v1`, or throws if it is malformed. */
function checkedBaseUrl(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    throw new TypeError(
      `baseUrl must be an http or https address without user, query and fragment, not "${baseUrl}".`,
    );
  return url.href.replace(/(\/api\/v1)?\/*$/, '');
}

/** The longest delay in milliseconds that JavaScript timers support: about 24 days. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

function checkedTimeout(timeoutMs: number): number {
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > TIMEOUT_MS_MAX)
    throw new TypeError(`timeoutMs must be a whole number from 1 to ${TIMEOUT_MS_MAX}, not ${timeoutMs}.`);
  return timeoutMs;
}

type Method = (...args: unknown[]) => unknown;

function methodOf(
  { path, answer }: (typeof operations)[OperationId],
  exchange: HttpExchange,
  ofClient: AbortSignal | undefined,
): Method {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const askWith = (args: unknown[]): ApiRequest => {
    const ids = Object.fromEntries(names.map((name, index) => [name, checkedId(name, args[index])]));
    const rest = args.slice(names.length);
    // The operation's type enforces this order of arguments; only lists have a query.
    const [query, options] = (answer === 'list' ? rest : [{}, ...rest]) as [object?, CallOptions?];
    return { path, ids, query: checkedQuery(query), signal: anySignal(ofClient, options?.signal) };
  };
  switch (answer) {
    case 'record':
      return async (...args) => readRecord(exchange, askWith(args));
    case 'file':
      return async (...args) => readFile(exchange, askWith(args));
    case 'list':
      return (...args) => listOf(exchange, askWith(args));
  }
}

/** Returns an id, or throws if it is malformed: one such as `..` would lead to another path. */
function checkedId(name: string, value: unknown): string {
  if (typeof value !== 'string' || !/^[A-Za-z0-9]/.test(value))
    throw new TypeError(
      `${name} must be an id, which begins with a letter or a digit, not ${JSON.stringify(value)}.`,
    );
  return value;
}

/** Returns a copy of the query. Throws for objects such as `Date`, whose text form the contract doesn't allow. */
function checkedQuery(query: object = {}): Record<string, unknown> {
  for (const [name, value] of Object.entries(query))
    if (!['string', 'number', 'boolean', 'undefined'].includes(typeof value))
      throw new TypeError(`${name} must be a text or a number, not ${JSON.stringify(value)}.`);
  return { ...query };
}

async function readRecord(exchange: HttpExchange, ask: ApiRequest): Promise<unknown> {
  const answer = await exchange(ask);
  const { data } = envelopeOf(ask, answer);
  if (!isRecord(data)) throw unreadableResponseError(ask.path, answer.headers);
  return data;
}

async function readFile(exchange: HttpExchange, ask: ApiRequest): Promise<DownloadedFile> {
  const { bytes, headers } = await exchange(ask);
  const fileName = fileNameIn(headers.get('Content-Disposition') ?? '');
  if (fileName === undefined) throw unreadableResponseError(ask.path, headers);
  return { bytes, fileName };
}

/** Returns the file name in a `Content-Disposition`, with slashes replaced; undefined if there is none that is safe. */
function fileNameIn(disposition: string): string | undefined {
  const [, encoded] = /filename\*=UTF-8''([^ ;]+)/.exec(disposition) ?? [];
  const [, plain] = /filename="([^"]+)"/.exec(disposition) ?? [];
  const name = (encoded === undefined ? undefined : decoded(encoded)) ?? plain;
  return name === '.' || name === '..' ? undefined : name?.replaceAll(/[/\\]/g, '-');
}

/** Returns percent-encoded text decoded; undefined if it is malformed. */
function decoded(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

function listOf(exchange: HttpExchange, ask: ApiRequest): unknown {
  const { cursor: first, ...filters } = ask.query;
  const readPage = async (cursor: unknown): Promise<Page<unknown>> => {
    const answer = await exchange({ ...ask, query: { limit: LIMIT_MAX, ...filters, cursor } });
    const { data, nextCursor } = envelopeOf(ask, answer);
    if (!Array.isArray(data) || !data.every(isRecord) || nextCursor === undefined)
      throw unreadableResponseError(ask.path, answer.headers);
    const date = new Date(answer.headers.get('Date') ?? NaN);
    const hasDate = !Number.isNaN(date.getTime());
    return {
      data,
      hasMore: nextCursor !== null,
      nextCursor,
      date: hasDate ? date : undefined,
      generation: answer.headers.get('Store-Generation') ?? undefined,
    };
  };
  // The operation's type ensures that the cursor is a string.
  return createListing(readPage, first as string | undefined);
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string';
}

function envelopeOf(
  { path }: ApiRequest,
  { json, headers }: HttpAnswer,
): { data: unknown; nextCursor?: string | null } {
  if (typeof json === 'object' && json !== null && 'data' in json) return json;
  throw unreadableResponseError(path, headers);
}
