import { takenTogether } from '../../command-line/taken-together.ts';
import type { BatchAnswer, Change } from '../../contract/feed.ts';
import { ApiError, NoAnswerError } from '../errors.ts';
import { checkedSecret, inOneLine, reasonOf } from '../exchange.ts';
import { secondsIn } from '../pace.ts';
import { anyOf, type Clock, machineClock, unlessAborted } from '../waiting.ts';

export type { BatchAnswer, Change } from '../../contract/feed.ts';

export interface FeedSenderOptions {
  /** The address of the feed's port, such as `https://feed.example.com`. */
  url: string;
  /** The feed token. */
  token: string;
  /** Time after the first failure in which a batch is tried again; ten minutes unless given. */
  retryTimeMs?: number;
  /** Time that one request may take; a minute unless given. */
  timeoutMs?: number;
  /** Ends all that the sender does. */
  signal?: AbortSignal;
  /** Told of each failure after which the same changes are sent again. */
  onRetry?: (reason: Error) => void;
  /** Sends the requests; the runtime's unless given. */
  fetch?: typeof globalThis.fetch;
}

/** A change with its answer. */
export interface Answered {
  change: Change;
  answer: BatchAnswer;
}

/** An answer as it came; its `line` is the change's place in the request that was answered. */
export interface AnswerText {
  text: string;
  answer: BatchAnswer;
}

/** Sends changes to the feed of a Fieldledger. */
export interface FeedSender {
  /**
   * Sends changes in their order, in batches of those that have come, each until it is answered. Every change needs an `id`: what was applied
   * before an answer was lost is `skipped` when it is sent again.
   * @throws ApiError when the feed refuses the request, NoAnswerError when it can't be reached for too long.
   */
  send: (changes: Iterable<Change> | AsyncIterable<Change>) => AsyncGenerator<Answered>;
  /** Sends changes as texts, none of which has a line feed. */
  sendTexts: (texts: readonly (string | Uint8Array)[]) => AsyncGenerator<AnswerText>;
}

const BATCH_CHANGES = 100;
const BATCH_BYTES = 1_048_576;
/** The feed's contract, "Apply changes". */
const BODY_BYTES_MAX = 8_388_608;
const STATUSES = ['applied', 'skipped', 'refused', 'not_tried'];
const LINE_FEED = 0x0a;
const RETRY_MS = { first: 500, max: 30_000 };
const RETRY_TIME_MS = 600_000;
const TIMEOUT_MS = 60_000;

/**
 * Creates a sender. Batches go one after the other: a later one could otherwise overtake one that has to be sent again.
 * @param clock in place of the machine's: for tests.
 * @throws TypeError for an address that can't be right.
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
      // Answers that are too long together leave the rest of a batch for the next one.
      const isFault = final.length === 0 || answers[untried]?.answer.status === 'refused';
      if (isFault)
        await retries(
          outcome instanceof Error ? outcome : new NoAnswerError('The database of the feed is away.'),
        );
    }
  }

  async function* send(changes: Iterable<Change> | AsyncIterable<Change>): AsyncGenerator<Answered> {
    const limits = { count: BATCH_CHANGES, size: Infinity, sizeOf: () => 0 };
    for await (const batch of takenTogether(asTheyCome(changes), limits)) {
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

/** The answer to a change that no request can have; those behind it go on. */
const tooLong: BatchAnswer = {
  line: 1,
  status: 'refused',
  error: {
    code: 'malformed_line',
    message: `The change has more than ${BODY_BYTES_MAX} bytes.`,
    path: '',
  },
};

/** As many texts as one request takes. */
function batchOf(texts: readonly Uint8Array[]): readonly Uint8Array[] {
  let [count, size] = [0, 0];
  for (const { length } of texts) {
    size += length + 1;
    if (count === BATCH_CHANGES || (count > 0 && size > BATCH_BYTES)) break;
    count += 1;
  }
  return texts.slice(0, count);
}

/** Whether an answer asks for its change again. */
function isUntried(answer: BatchAnswer): boolean {
  return (
    answer.status === 'not_tried' || (answer.status === 'refused' && answer.error.code === 'unavailable')
  );
}

/** Builds the wait before the next try, which throws the failure when there is to be none. */
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

/** Answers in their order, or why there are none. */
async function post(
  address: string,
  texts: readonly Uint8Array[],
  { token, timeoutMs = TIMEOUT_MS, signal, fetch = globalThis.fetch }: FeedSenderOptions,
): Promise<AnswerText[] | Error> {
  const ends = anyOf(signal, AbortSignal.timeout(timeoutMs));
  try {
    const response = await unlessAborted(
      fetch(address, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/x-ndjson' },
        body: linesOf(texts),
        // Nobody else may get the token.
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
    // The feed's own contract describes them.
    const parsed = answers.map((text) => ({ text, answer: JSON.parse(text) as BatchAnswer }));
    if (!parsed.every(({ answer }) => STATUSES.includes((answer as BatchAnswer | null)?.status ?? '')))
      return new NoAnswerError(`POST ${address}: this is not an answer of the feed.`);
    return parsed;
  } catch (cause) {
    signal?.throwIfAborted();
    return new NoAnswerError(`POST ${address}: no answer came (${reasonOf(cause)}).`, { cause });
  }
}

/** Lines without a line feed at the end, which would make a longest one too long. */
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
    retryAfter: secondsIn(headers.get('Retry-After')),
  });
}

function isTemporary(error: Error): boolean {
  return !(error instanceof ApiError) || error.status >= 500 || [408, 425, 429].includes(error.status);
}
