import { once } from 'node:events';
import { type IncomingMessage, request as requestPlainly } from 'node:http';
import { request as requestByTls } from 'node:https';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectByTls } from 'node:tls';
import { gunzipSync } from 'node:zlib';

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
  method?: string | undefined;
  /** Path and query. */
  target: string;
  headers?: Record<string, string>;
  /** Sends address and headers byte by byte on a connection of its own; a client library would write some otherwise. */
  isAsWritten?: boolean | undefined;
}

const ANSWERED_WITHIN_MS = 20_000;

/** Addresses whose allowance is waited for, where the suite asks more in a minute than it allows. */
const awaited = new Set<string>();
const TRIES_MAX = 3;

/** From now on a 429 of this address is no answer: the same is asked again when its `Retry-After` has passed. */
export function awaitAllowanceOf(url: string): void {
  awaited.add(url);
}

/** Sends one request and takes whatever is answered. */
export async function exchange(url: string, asked: Asked): Promise<ReceivedAnswer> {
  const send = asked.isAsWritten ? sendAsWritten : sendByClient;
  let answer = await send(url, asked);
  for (let tries = 1; awaited.has(url) && answer.status === 429 && tries < TRIES_MAX; tries += 1) {
    await pause(Number(answer.headers['retry-after'] ?? 1) * 1000);
    answer = await send(url, asked);
  }
  return answer;
}

/** Follows nothing, tries nothing again, and unpacks nothing: the bytes as they came are what is looked at. */
async function sendByClient(url: string, { method = 'GET', target, headers = {} }: Asked) {
  const signal = AbortSignal.timeout(ANSWERED_WITHIN_MS);
  const options = { method, headers: { accept: '*/*', ...headers }, signal };
  const request = (url.startsWith('https:') ? requestByTls : requestPlainly)(`${url}${target}`, options);
  const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
  return toAnswer(response.statusCode ?? 0, response.rawHeaders, await buffer(response));
}

async function sendAsWritten(url: string, { method = 'GET', target, headers = {} }: Asked) {
  const { host, hostname, port, protocol } = new URL(url);
  const socket =
    protocol === 'https:'
      ? connectByTls({ host: hostname, servername: hostname, port: Number(port || 443) })
      : connect(Number(port || 80), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, ...lines, 'Connection: close'];
  socket.write([...head, '', ''].join('\r\n'));
  await once(socket, 'close');
  const bytes = Buffer.concat(chunks);
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) throw new Error(`No HTTP answer came: ${JSON.stringify(bytes.toString('latin1'))}`);
  const { status, rawHeaders } = readHead(bytes.subarray(0, headEnd));
  return toAnswer(status, rawHeaders, bytes.subarray(headEnd + 4));
}

/** Reads what stands before the empty line of an answer; the status is `NaN` where it isn't HTTP. */
export function readHead(bytes: Buffer): { status: number; rawHeaders: string[] } {
  const [statusLine = '', ...lines] = bytes.toString('latin1').split('\r\n');
  const rawHeaders = lines.flatMap((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]), rawHeaders };
}

export function parsed(answer: Answer): unknown {
  try {
    return JSON.parse(answer.body);
  } catch {
    return undefined;
  }
}

export function codeOf(body: unknown): string {
  const error = (body as { error?: { code?: unknown } } | undefined)?.error;
  return typeof error?.code === 'string' ? error.code : 'none';
}

/** An answer in short: `200`, or `404 not_found`. */
export function said(answer: Answer): string {
  return answer.status < 400 ? String(answer.status) : `${answer.status} ${codeOf(parsed(answer))}`;
}

export function toAnswer(status: number, rawHeaders: readonly string[], bytes: Uint8Array): ReceivedAnswer {
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
