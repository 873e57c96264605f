import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';

import { refuseMalformedRequests } from './malformed-requests.ts';
import { endUnreadAnswers, type UnreadLimits } from './unread-answers.ts';

const HEADERS_MS_MAX = 10_000;
const REQUEST_MS_MAX = 30_000;
/** Milliseconds between checks for slow requests; Node's default is only twice a minute. */
const TIMEOUT_CHECK_MS = 1_000;
/** Idle timeout in milliseconds, longer than load balancers commonly have, so that they close connections first. */
const KEEP_ALIVE_MS = 65_000;

/** Headers that every response on both ports has, to prevent type sniffing, scripts, framing and referrers. */
export const EVERY_ANSWER = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};

/**
 * Returns an HTTP server for an application, not yet listening. Every request is answered by the application, or refused with
 * an error body and the headers of every response; Node itself never answers.
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
    // Otherwise Node would answer a request without Host with a bare 400, without an error body.
    requireHostHeader: false,
  });
  // Without a listener for `checkExpectation`, Node answers an unknown expectation with a bare 417.
  for (const event of ['request', 'checkExpectation']) {
    server.on(event, (req: IncomingMessage, res: Parameters<RequestListener>[1]) => {
      // Node goes on reading requests while the client receives a connection's last response.
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
 * Returns a request's target as a path with its query. Clients may send a scheme and host too (RFC 9112 section 3.2.2), which
 * are ignored; any other target, such as `*`, matches none of our paths.
 */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const [, path] = /^https?:\/\/[^/?#]*(.*)$/is.exec(target) ?? [];
  if (path === undefined) return '/*';
  return path.startsWith('/') ? path : `/${path}`;
}
