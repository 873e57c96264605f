import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';

import { refuseMalformedRequests } from './malformed-requests.ts';
import { endUnreadAnswers, type UnreadLimits } from './unread-answers.ts';

const HEADERS_MS_MAX = 10_000;
const REQUEST_MS_MAX = 30_000;
/** Node's default would check for slow requests only twice a minute. */
const TIMEOUT_CHECK_MS = 1_000;
/** Load balancers commonly keep idle connections for less, and so are the first to close them. */
const KEEP_ALIVE_MS = 65_000;

/** Headers of every answer on both ports: no browser guesses its type, runs or frames it, or tells others its address. */
export const EVERY_ANSWER = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};

/**
 * Creates an HTTP server for an application, not yet listening. Whatever is sent to it is answered by the application or
 * refused with an error's body, always with the headers of every answer; Node itself answers nothing.
 */
export function createHttpServer(
  app: RequestListener,
  headersOfEveryAnswer: () => Record<string, string>,
  unread: UnreadLimits = {},
): Server {
  const server = createServer({
    requestTimeout: REQUEST_MS_MAX,
    headersTimeout: HEADERS_MS_MAX,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Node would answer a request without Host with a bare 400, without an error's body.
    requireHostHeader: false,
  });
  // Without a listener Node answers an unknown expectation with a bare 417.
  for (const event of ['request', 'checkExpectation']) {
    server.on(event, (req: IncomingMessage, res: Parameters<RequestListener>[1]) => {
      // Node reads on while the client takes the last answer of a connection.
      if (req.socket.writableEnded) return;
      req.url = originForm(req.url ?? '/');
      app(req, res);
    });
  }
  refuseMalformedRequests(server, headersOfEveryAnswer);
  endUnreadAnswers(server, unread);
  return server;
}

/**
 * A request's target as a path with its query. Clients may also send it with scheme and host (RFC 9112 section 3.2.2),
 * which say nothing here; any other target, such as `*`, is no path of ours.
 */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const [, path] = /^https?:\/\/[^/?#]*(.*)$/is.exec(target) ?? [];
  if (path === undefined) return '/*';
  return path.startsWith('/') ? path : `/${path}`;
}
