import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

import { errorBody } from './error-replies.ts';
import type { ErrorCode } from '../../contract/operations.ts';
import { AppError } from '../../errors.ts';

/** Matches a Host header, `uri-host [ ":" port ]` (RFC 9112 section 3.2, RFC 3986 section 3.2.2), with a host (RFC 9110). */
const HOST = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})+)(?::\d*)?$/i;

/** Refuses a request with ambiguous headers. @throws AppError `invalid_request` for one. */
export function refuseBadHeaders(req: IncomingMessage, _res: ServerResponse, next: () => void): void {
  const problem = problemOfHeaders(req);
  if (problem !== undefined)
    throw new AppError('invalid_request', `The request is not well-formed: ${problem}`);
  next();
}

/**
 * Returns the problem with headers that Node's parser accepted, to end a sentence with; undefined if there is none. If a
 * header that must be unique is repeated, Node uses the first one, while a proxy in front may have used the second.
 */
function problemOfHeaders({ rawHeaders, headers, httpVersion }: IncomingMessage): string | undefined {
  let hosts = 0;
  let authorizations = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    // Comparing lengths first is quicker.
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations += 1;
  }
  if (hosts > 1) return 'it has more than one Host header.';
  if (authorizations > 1) return 'it has more than one Authorization header.';
  if (headers.host === undefined) return httpVersion === '1.1' ? 'it has no Host header.' : undefined;
  return HOST.test(headers.host) ? undefined : 'its Host header is not a host with or without a port.';
}

/** Refuses requests that Node's parser rejects, and CONNECT, for which Node gives only a socket. */
export function refuseMalformedRequests(
  server: Server,
  headersOfEveryAnswer: () => Record<string, string>,
): void {
  const latest = new WeakMap<Socket, ServerResponse>();
  for (const event of ['request', 'checkExpectation']) {
    server.prependListener(event, ({ socket }: IncomingMessage, res: ServerResponse) =>
      latest.set(socket, res),
    );
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const last = latest.get(socket);
    const refusal = { code: 'invalid_request', ...problemOf(error, last, server) } as const;
    refuseMalformed(socket, last, refusal, headersOfEveryAnswer());
  });
  server.on('connect', (_req, socket: Socket) => {
    // Node has handed over the socket, so without a listener a reset would end the process.
    socket.on('error', () => socket.destroy());
    const message = 'This path answers GET and HEAD, not CONNECT.';
    refuseRaw(socket, { status: 405, code: 'method_not_allowed', message }, headersOfEveryAnswer());
  });
}

function problemOf(
  { code }: NodeJS.ErrnoException,
  last: ServerResponse | undefined,
  { headersTimeout, requestTimeout }: Server,
): Pick<RawRefusal, 'status' | 'message'> {
  if (code === 'HPE_HEADER_OVERFLOW')
    return { status: 400, message: 'The request is not well-formed: its headers are larger than 16 kB.' };
  if (code !== 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 400, message: 'The request is not well-formed.' };
  // Node has one error for both timeouts. Unless a request is waiting for its body, the headers are late.
  const [what, ms] =
    last?.req.complete === false ? ['request', requestTimeout] : ["request's headers", headersTimeout];
  return { status: 408, message: `The ${what} must be complete within ${ms / 1000} seconds.` };
}

/** An error response to write directly to a connection, because there is no request to answer. */
interface RawRefusal {
  status: 400 | 405 | 408;
  code: ErrorCode;
  message: string;
}

/**
 * Answers malformed bytes with an error unless their request has its response, and closes the connection. The bytes may
 * belong to the body of a request that was answered, or follow one that is still waiting for its response.
 * @param latest the response to the connection's latest request with well-formed headers.
 */
function refuseMalformed(
  socket: Socket,
  latest: ServerResponse | undefined,
  refusal: RawRefusal,
  headers: Record<string, string>,
): void {
  const isInBody = latest?.req.complete === false;
  const isAnswered = isInBody && latest.headersSent;
  const end = isAnswered ? () => socket.destroySoon() : () => refuseRaw(socket, refusal, headers);
  const mayEndNow = !latest || latest.closed || !socket.writable || (isInBody && !isAnswered);
  if (mayEndNow) end();
  else latest.once('close', end);
}

/** Writes an error to a connection without a current request, and closes it. */
function refuseRaw(
  socket: Socket,
  { status, code, message }: RawRefusal,
  headers: Record<string, string>,
): void {
  // Already ended on our side; the client may still be reading the last response.
  if (!socket.writable) return;
  const body = errorBody(code, message);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: private, no-cache',
    'Vary: Accept-Encoding',
    // Node adds this header by itself to responses to requests that it knows of (RFC 9110 section 6.6.1).
    `Date: ${new Date().toUTCString()}`,
    `X-Request-Id: ${randomUUID()}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(status === 405 ? ['Allow: GET, HEAD'] : []),
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
