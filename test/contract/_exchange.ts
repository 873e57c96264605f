import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectByTls } from 'node:tls';
import { gunzipSync } from 'node:zlib';

import got, { type Method } from 'got';

/** An answer as it came over the wire. */
export interface Answer {
  status: number;
  /** By lower-case name; what came more than once is joined as HTTP joins it. */
  headers: Readonly<Record<string, string>>;
  /** Names of headers that came more than once. */
  repeated: readonly string[];
  /** The text, unpacked if it came compressed. */
  body: string;
  /** The number of bytes of the body as it came over the wire. */
  byteCount: number;
}

/** An answer with its body's bytes, for what isn't text. */
export interface ReceivedAnswer extends Answer {
  bytes: Buffer;
}

export interface Asked {
  method?: Method | undefined;
  /** Path and query. */
  target: string;
  headers?: Record<string, string>;
}

const client = got.extend({
  retry: { limit: 0 },
  throwHttpErrors: false,
  followRedirect: false,
  // Nothing is compressed unless a question asks for it, and then its bytes are what is looked at.
  decompress: false,
  timeout: { request: 20_000 },
  responseType: 'buffer',
});

/** Addresses whose allowance is waited for, where the suite asks more in a minute than it allows. */
const awaited = new Set<string>();
const TRIES_MAX = 3;

/** From now on a 429 of this address is no answer: the same is asked again when its `Retry-After` has passed. */
export function awaitAllowanceOf(url: string): void {
  awaited.add(url);
}

/** Sends one request and takes whatever is answered. */
export async function ask(
  url: string,
  { method = 'GET', target, headers = {} }: Asked,
): Promise<ReceivedAnswer> {
  return withAllowance(url, async () => {
    const { statusCode, rawHeaders, body } = await client(`${url}${target}`, {
      method,
      headers: { accept: '*/*', ...headers },
    });
    return toAnswer(statusCode, rawHeaders, body);
  });
}

async function withAllowance(url: string, send: () => Promise<ReceivedAnswer>): Promise<ReceivedAnswer> {
  let answer = await send();
  for (let tries = 1; awaited.has(url) && answer.status === 429 && tries < TRIES_MAX; tries += 1) {
    await pause(Number(answer.headers['retry-after'] ?? 1) * 1000);
    answer = await send();
  }
  return answer;
}

/** Sends bytes as they are on a connection of their own, and takes all that comes until it is closed. */
export async function askRaw(url: string, lines: readonly string[]): Promise<ReceivedAnswer> {
  return withAllowance(url, () => sendRaw(url, lines));
}

/** Asks with the address as it is written; a client library would write some otherwise. */
export async function askAsWritten(
  url: string,
  { method = 'GET', target, headers = {} }: Omit<Asked, 'method'> & { method?: string },
): Promise<ReceivedAnswer> {
  return askRaw(url, [
    `${method} ${target} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ]);
}

async function sendRaw(url: string, lines: readonly string[]): Promise<ReceivedAnswer> {
  const { hostname, port, protocol } = new URL(url);
  const socket =
    protocol === 'https:'
      ? connectByTls({ host: hostname, servername: hostname, port: Number(port || 443) })
      : connect(Number(port || 80), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write([...lines, '', ''].join('\r\n'));
  await once(socket, 'close');
  const bytes = Buffer.concat(chunks);
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) throw new Error(`No HTTP answer came: ${JSON.stringify(bytes.toString('latin1'))}`);
  const [statusLine = '', ...headerLines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const rawHeaders = headerLines.flatMap((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return toAnswer(Number(statusLine.split(' ')[1]), rawHeaders, bytes.subarray(headEnd + 4));
}

/** An answer's body as JSON; undefined when it is none. */
export function parsed(answer: Answer): unknown {
  try {
    return JSON.parse(answer.body);
  } catch {
    return undefined;
  }
}

function toAnswer(status: number, rawHeaders: readonly string[], bytes: Uint8Array): ReceivedAnswer {
  const headers: Record<string, string> = {};
  const repeated: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    if (headers[name] !== undefined) repeated.push(name);
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const isPacked = headers['content-encoding'] === 'gzip' && bytes.length > 0;
  const plain = Buffer.from(isPacked ? gunzipSync(bytes) : bytes);
  return {
    status,
    headers,
    repeated,
    body: plain.toString('utf8'),
    bytes: plain,
    byteCount: bytes.byteLength,
  };
}
