import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';

import { type Attempt, AttemptFailure } from './attempt.ts';
import type { ConnectionPool, PooledRequest } from './connection-pool.ts';

/** One POST. */
export interface Call {
  host: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

export interface Answer {
  status: number;
  /** Resolves when the body was received or the connection is closed, in 250 ms at most; it never rejects. */
  passed: Promise<void>;
}

/** The kept connection had ended before the request was sent: it can be sent again on another one. */
export class NothingSent extends Error {
  override readonly name = 'NothingSent';
}

const HEAD_BYTES_MAX = 16_384;
/** Provisional answers (1xx) before the real one. */
const PROVISIONAL_MAX = 16;
/** A body up to this length is received and dropped, so that the connection can be kept. */
const PASSED_BYTES_MAX = 16_384;
const PASSING_MS_MAX = 250;

/**
 * Sends a request, and waits for the head of the answer.
 *
 * `node:http` speaks HTTP, over connections of our own. Against undici: both make 15,000 to 25,000 attempts a second on
 * kept connections, with the receiver on the same two cores, and on new ones the handshakes take the time (600 to 900).
 * But undici offers HTTP/2 unless told otherwise, doesn't notice the end of an attempt while it connects, and restarts
 * its time limit with each 103; and `node:http` is no package.
 * @throws AttemptFailure, an error of the connection or of the parser, or NothingSent.
 */
export function exchange(pool: ConnectionPool, call: Call, attempt: Attempt): Promise<Answer> {
  const { signal, phases } = attempt;
  return new Promise((resolve, reject) => {
    const request = httpRequest(optionsOf(pool, call, attempt));
    const fail = (error: Error) => {
      reject(error);
      request.destroy();
    };
    const abort = () => fail(new AttemptFailure('timeout'));
    signal.addEventListener('abort', abort, { once: true });
    request.on('error', fail);
    request.once('socket', (socket) => {
      if (socket.destroyed && request.reusedSocket) fail(new NothingSent());
      else phases.enter('firstByte');
    });
    let provisionalCount = 0;
    request.on('information', () => {
      provisionalCount += 1;
      if (provisionalCount > PROVISIONAL_MAX) fail(new AttemptFailure('protocol'));
    });
    // Nothing was offered to switch to (101).
    request.once('upgrade', (_response, socket) => {
      socket.destroy();
      fail(new AttemptFailure('protocol'));
    });
    request.once('response', (response) => {
      // The parser gives every response a status.
      resolve({ status: response.statusCode as number, passed: letPass(request, response) });
    });
    request.end(call.body);
  });
}

function optionsOf(
  pool: ConnectionPool,
  { host, path, headers, body }: Call,
  attempt: Attempt,
): PooledRequest {
  return {
    agent: pool,
    attempt,
    protocol: pool.protocol,
    host,
    method: 'POST',
    path,
    headers: { Host: host, ...headers, 'Content-Length': body.length },
    // Node's command line can't change either.
    maxHeaderSize: HEAD_BYTES_MAX,
    insecureHTTPParser: false,
  };
}

/** Drops a short body, and closes the connection on any other. */
async function letPass(request: ClientRequest, response: IncomingMessage): Promise<void> {
  // A body that breaks off doesn't matter: the status is known.
  response.on('error', () => undefined);
  if (!isShort(response)) {
    request.destroy();
    return;
  }
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      response.socket.destroy();
      end();
    }, PASSING_MS_MAX);
    // Node closes a request when the answer has ended and the request has been written, if both ever come.
    request.once('close', end);
    response.resume();
  });
}

function isShort({ statusCode, headers }: IncomingMessage): boolean {
  return statusCode === 204 || Number(headers['content-length'] ?? Infinity) <= PASSED_BYTES_MAX;
}
