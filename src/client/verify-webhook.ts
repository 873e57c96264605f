import type { Event } from '../contract/records.ts';
import { WebhookError } from './errors.ts';

/** The headers of a request: a web `Headers` object, or a plain object as in Node, Express and most frameworks. */
export type WebhookHeaders = Pick<Headers, 'get'> | Record<string, string | readonly string[] | undefined>;

/** Options for `verifyWebhook`. */
export interface VerifyOptions {
  /** The time to check signatures against, in place of the machine's clock. */
  now?: Date;
  /** The seconds by which a signature's timestamp may differ from the current time; 300 by default, as in the contract. */
  toleranceSeconds?: number;
}

/**
 * Verifies a webhook's signature and returns its event. The HMAC key is the whole secret, including `whsec_`.
 * @param rawBody the body as it arrived, before any JSON parser
 * @param secrets the signing secret, or several during a rotation
 * @throws {WebhookError} when the webhook must be rejected
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { now = new Date(), toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<Event> {
  const keys = checkedSecrets(secrets);
  const body = bytesOf(rawBody);
  const { t, v1 } = signatureIn(headers);
  const seconds = Math.abs(now.getTime() / 1000 - Number(t));
  if (!(seconds <= toleranceSeconds))
    throw new WebhookError('wrong_time', `The signature's time is ${Math.round(seconds)} seconds away.`);
  const text = joined(new TextEncoder().encode(`${t}.`), body);
  const matches = await Promise.all(keys.map((key) => isSignedWith(key, hexBytes(v1), text)));
  if (!matches.includes(true))
    throw new WebhookError('wrong_signature', 'The signature belongs to another secret or another body.');
  return eventIn(body);
}

/** Returns the secrets, trimmed. An error never shows a secret, whatever its type. */
function checkedSecrets(secrets: string | readonly string[]): string[] {
  const keys = [secrets].flat();
  // Callers in plain JavaScript may pass any type.
  for (const key of keys as unknown[])
    if (typeof key !== 'string')
      throw new TypeError(`A signing secret must be a text, not ${key === null ? 'null' : typeof key}.`);
  // Files and settings may end with a newline, which no secret contains.
  const trimmed = keys.map((key) => key.trim());
  if (keys.length === 0 || trimmed.includes('')) throw new TypeError('A signing secret must not be empty.');
  return trimmed;
}

/** Returns the bytes of a webhook's body. A parsed body is refused, because the signature covers the original bytes. */
function bytesOf(rawBody: unknown): Bytes {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  if (typeof rawBody === 'object' && rawBody !== null && 'byteLength' in rawBody)
    return new Uint8Array(rawBody as ArrayBuffer);
  const named = rawBody === null ? 'null' : typeof rawBody;
  throw new TypeError(`The body must be its raw bytes or text, before any JSON parser, not ${named}.`);
}

function signatureIn(headers: WebhookHeaders): { t: string; v1: string } {
  const header = headerOf(headers, 'Service-Signature') ?? '';
  const [, t, v1] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (t !== undefined && v1 !== undefined) return { t, v1 };
  const message = 'Service-Signature must be t=<unix seconds>,v1=<64 hexadecimal digits>.';
  throw new WebhookError('no_signature', message);
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  // Only the web's `Headers` has a function of this name.
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const entries: [string, unknown][] = Object.entries(headers);
  const [, value] = entries.find(([key]) => key.toLowerCase() === name.toLowerCase()) ?? [];
  // Node's `headersDistinct` has arrays. If there are several signatures, none is accepted.
  const [only, ...others] = [value].flat();
  return typeof only === 'string' && others.length === 0 ? only : undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Whether a signature was made with the secret for the text. Web Crypto compares in constant time. */
async function isSignedWith(secret: string, signature: Bytes, text: Bytes): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const raw = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['verify']);
  return crypto.subtle.verify('HMAC', key, signature, text);
}

function hexBytes(hex: string): Bytes {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function joined(first: Uint8Array, second: Uint8Array): Bytes {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

function eventIn(body: Uint8Array): Event {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(body));
    // The service signs only events.
    if (typeof event === 'object' && event !== null && 'event' in event) return event as Event;
  } catch {
    // The error is thrown below.
  }
  throw new WebhookError('no_event', 'The body is signed, but it is not an event.');
}
