import { batched } from '../../command-line/taken-together.ts';
import type { BatchAnswer, Change } from '../../contract/feed.ts';
import { ApiError, NoAnswerError } from '../errors.ts';
import { checkedSecret, inOneLine, reasonOf } from '../exchange.ts';
import { parseRetryAfter } from '../pace.ts';
import { anySignal, type Clock, machineClock, unlessAborted } from '../waiting.ts';

export type { BatchAnswer, Change } from '../../contract/feed.ts';

export interface FeedSenderOptions {
  /** The base URL of the feed, such as `https://feed.example.com`. */
  url: string;
  /** The feed token that authorises the requests. */
  token: string;
  /** Milliseconds after the first failure for which a batch is retried; ten minutes by default. */
  retryTimeMs?: number;
  /** The timeout of one request in milliseconds; one minute by default. */
  timeoutMs?: number;
  /** A signal that aborts the sender's requests and waits. */
  signal?: AbortSignal;
  /** A function called with each failure, before the same changes are sent again. */
  onRetry?: (reason: Error) => void;
  /** The function that sends requests; by default the runtime's own `fetch`. */
  fetch?: typeof globalThis.fetch;
}

/** A change that was sent, with the feed's answer. */
export interface AnsweredChange {
  change: Change;
  answer: BatchAnswer;
}

/** A feed's answer to one change, with its original text; its `line` is the change's position within its request. */
export interface AnswerText {
  text: string;
  answer: BatchAnswer;
}

/** A sender of changes to the feed of a Fieldledger server. */
export interface FeedSender {
  /**
   * Sends changes in order, in batches of those available, retries each batch until it is answered, and yields the answers.
   * Every change needs an `id`: if it was applied but its answer was lost, it is `skipped` when sent again.
   * @throws ApiError if the feed refuses the request, NoAnswerError if it is unreachable for too long.
   */
  send: (changes: Iterable<Change> | AsyncIterable<Change>) => AsyncGenerator<AnsweredChange>;
  /** Sends changes as JSON texts, which must not contain line feeds. */
  sendTexts: (texts: readonly (string | Uint8Array)[]) => AsyncGenerator<AnswerText>;
}

const BATCH_CHANGES = 100;
const BATCH_BYTES = 1_048_576;
/** The maximum size of a request body in bytes (the feed's contract, "Apply changes"). */
const BODY_BYTES_MAX = 8_388_608;
const STATUSES = ['applied', 'skipped', 'refused', 'not_tried'];
const LINE_FEED = 0x0a;
const RETRY_MS = { first: 500, max: 30_000 };
const RETRY_TIME_MS = 600_000;
const TIMEOUT_MS = 60_000;

/**
 * Creates a sender. Batches are sent one at a time, because a later one could otherwise overtake one that is retried.
 * @param clock replaces the machine's clock in tests.
 * @throws TypeError for an invalid address or token.
 */
export function createFeedSender(options: FeedSenderOptions, clock: Clock = machineClock): FeedSender {
  if (!/^https?:\/\//.test(options.url) || !URL.canParse(options.url))
    throw new TypeError(`url must be an http or https address, not ${JSON.stringify(options.url)}.`);
  const address = new URL('/feed/v1/changes', options.url).href;
  const token = checkedSecret('token', 'a feed token', options.token);

  async function* sendTexts(texts: readonly (string | Uint8Array)[]): AsyncGenerator<AnswerText> {
    const encoder = new TextEncoder();
    let rest = texts.map((text) => (typeof text === 'string' ? encoder.encode(text) : text));
    let retries = createRetries(options, clock);
    while (rest[0]) {
      if (rest[0].length > BODY_BYTES_MAX) {
        yield { text: JSON.stringify(tooLong), answer: tooLong };
        rest = rest.slice(1);
        continue;
      }
      const outcome = await post(address, batchOf(rest), { ...options, token });
      const answers = outcome instanceof Error ? [] : outcome;
      const untried = answers.findIndex(({ answer }) => isUntried(answer));
      const final = untried < 0 ? answers : answers.slice(0, untried);
      yield* final;
      rest = rest.slice(final.length);
      if (final.length > 0) retries = createRetries(options, clock);
      // If the answers get too long together, the feed leaves the rest of the batch untried, which isn't a failure.
      const isFault = final.length === 0 || answers[untried]?.answer.status === 'refused';
      if (isFault)
        await retries(
          outcome instanceof Error ? outcome : new NoAnswerError('The database of the feed is away.'),
        );
    }
  }

  async function* send(changes: Iterable<Change> | AsyncIterable<Change>): AsyncGenerator<AnsweredChange> {
    const limits = { count: BATCH_CHANGES, size: Infinity, sizeOf: () => 0 };
    for await (const batch of batched(asTheyCome(changes), limits)) {
      const rest = batch.values();
      for await (const { answer } of sendTexts(batch.map((change) => JSON.stringify(change)))) {
        // There is one answer for each change.
        yield { change: rest.next().value as Change, answer };
      }
    }
  }

  return { send, sendTexts };
}

async function* asTheyCome<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  yield* items;
}

/** The answer that the sender itself gives to a change too large for any request; later changes are still sent. */
const tooLong: BatchAnswer = {
  line: 1,
  status: 'refused',
  error: {
    code: 'malformed_line',
    message: `The change has more than ${BODY_BYTES_MAX} bytes.`,
    path: '',
  },
};

/** Returns as many texts, from the first one on, as fit into one request. */
function batchOf(texts: readonly Uint8Array[]): readonly Uint8Array[] {
  let [count, size] = [0, 0];
  for (const { length } of texts) {
    size += length + 1;
    if (count === BATCH_CHANGES || (count > 0 && size > BATCH_BYTES)) break;
    count += 1;
  }
  return texts.slice(0, count);
}

/** Whether a change has to be sent again after this answer. */
function isUntried(answer: BatchAnswer): boolean {
  return (
    answer.status === 'not_tried' || (answer.status === 'refused' && answer.error.code === 'unavailable')
  );
}

/** Returns a function that waits before the next attempt, or throws the failure once there must be no more attempts. */
function createRetries({ retryTimeMs = RETRY_TIME_MS, signal, onRetry }: FeedSenderOptions, clock: Clock) {
  let tries = 0;
  let failedAt: number | undefined;
  return async (failure: Error): Promise<void> => {
    failedAt ??= clock.now();
    const backoffMs = Math.min(RETRY_MS.max, RETRY_MS.first * 2 ** tries);
    const waitMs = Math.max(backoffMs, ((failure as Partial<ApiError>).retryAfter ?? 0) * 1000);
    if (!isTemporary(failure) || clock.now() + waitMs > failedAt + retryTimeMs) throw failure;
    tries += 1;
    onRetry?.(failure);
    await clock.wait(waitMs, signal);
  };
}

/** Posts one batch, and returns the answers in order, or the error if there are none. */
async function post(
  address: string,
  texts: readonly Uint8Array[],
  { token, timeoutMs = TIMEOUT_MS, signal, fetch = globalThis.fetch }: FeedSenderOptions,
): Promise<AnswerText[] | Error> {
  const ends = anySignal(signal, AbortSignal.timeout(timeoutMs));
  try {
    const response = await unlessAborted(
      fetch(address, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/x-ndjson' },
        body: linesOf(texts),
        // The token must not reach another host.
        redirect: 'manual',
        signal: ends,
      }),
      ends,
    );
    const body = await unlessAborted(response.text(), ends);
    if (response.status !== 200) return refusalOf(response, body);
    const answers = body.split('\n').filter((line) => line !== '');
    if (answers.length !== texts.length)
      return new NoAnswerError(`The feed answered ${answers.length} of ${texts.length} changes.`);
    // The feed's contract defines their type.
    const parsed = answers.map((text) => ({ text, answer: JSON.parse(text) as BatchAnswer }));
    if (!parsed.every(({ answer }) => STATUSES.includes((answer as BatchAnswer | null)?.status ?? '')))
      return new NoAnswerError(`POST ${address}: this is not an answer of the feed.`);
    return parsed;
  } catch (cause) {
    signal?.throwIfAborted();
    return new NoAnswerError(`POST ${address}: no answer came (${reasonOf(cause)}).`, { cause });
  }
}

/** Joins texts with line feeds; one at the end would push the longest possible text over the limit. */
function linesOf(texts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const lines = new Uint8Array(texts.reduce((size, { length }) => size + length + 1, -1)).fill(LINE_FEED);
  let start = 0;
  for (const text of texts) {
    lines.set(text, start);
    start += text.length + 1;
  }
  return lines;
}

function refusalOf({ status, headers }: Response, body: string): ApiError {
  let said = 'this is not an answer of the feed';
  let code: ApiError['code'];
  try {
    const { error } = JSON.parse(body) as { error: { code: NonNullable<ApiError['code']>; message: string } };
    said = `${inOneLine(error.code)}: ${inOneLine(error.message)}`;
    ({ code } = error);
  } catch {
    // Something else has answered, such as a proxy.
  }
  return new ApiError(`POST /feed/v1/changes: ${status} ${said}`, {
    status,
    code,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: parseRetryAfter(headers.get('Retry-After')),
  });
}

function isTemporary(error: Error): boolean {
  return !(error instanceof ApiError) || error.status >= 500 || [408, 425, 429].includes(error.status);
}
