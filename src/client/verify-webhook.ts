import type { Event } from '../contract/records.ts';
import { WebhookError } from './errors.ts';

/** Headers of a request: the web's own, or an object as Node, Express and most frameworks have it. */
export type WebhookHeaders = Pick<Headers, 'get'> | Record<string, string | readonly string[] | undefined>;

/** The options of a verification. */
export interface VerifyOptions {
  /** The present, in place of the machine's clock. */
  now?: Date;
  /** Seconds that the time of a signature may be away from the present; the contract's 300 unless told. */
  toleranceSeconds?: number;
}

/**
 * Verifies a webhook and returns its event. The key of the signature is the whole secret, `whsec_` included.
 * @param rawBody what arrived, before any JSON parser
 * @param secrets the signing secret; several while one is rotated
 * @throws {WebhookError} when the webhook must not be believed
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

/** The error never shows a secret, whatever form it has. */
function checkedSecrets(secrets: string | readonly string[]): string[] {
  const keys = [secrets].flat();
  // JavaScript lets anything through.
  for (const key of keys as unknown[])
    if (typeof key !== 'string')
      throw new TypeError(`A signing secret must be a text, not ${key === null ? 'null' : typeof key}.`);
  // Files and settings may end with a line end, which no secret has.
  const trimmed = keys.map((key) => key.trim());
  if (keys.length === 0 || trimmed.includes('')) throw new TypeError('A signing secret must not be empty.');
  return trimmed;
}

/** A body that a JSON parser has read can't be verified: the signature is that of its bytes. */
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
  // Only the web's headers have a function under this name.
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const entries: [string, unknown][] = Object.entries(headers);
  const [, value] = entries.find(([key]) => key.toLowerCase() === name.toLowerCase()) ?? [];
  // Node's `headersDistinct` has arrays. Of several signatures none is believed.
  const [only, ...others] = [value].flat();
  return typeof only === 'string' && others.length === 0 ? only : undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Web Crypto compares in constant time. */
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
    // The service signs nothing but its events.
    if (typeof event === 'object' && event !== null && 'event' in event) return event as Event;
  } catch {
    // Said below.
  }
  throw new WebhookError('no_event', 'The body is signed, but it is not an event.');
}
