/*
 * A receiver of webhooks in a process of its own, over TLS on 127.0.0.1. It answers 200 to everything, closes the
 * connection after a request for /close, and tells its parent when a request for /tell arrived. It tells its parent
 * where it is, and ends with it.
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { createAuthority } from '../server/webhooks/_certificates.ts';
import { steadyMs } from './_steady-clock.ts';

export interface ReceiverPlace {
  port: number;
  ca: string;
}

/** A delivery has arrived, at a time by `steadyMs`. */
export interface Arrival {
  delivery: string;
  atMs: number;
}

/** The host names it has a certificate for. */
const NAMES = '*.example.net';

const authority = createAuthority();
const server = createServer(authority.issue({ names: [NAMES] }), (request, response) => {
  request.resume().once('end', () => {
    if (request.url === '/tell') {
      const arrival: Arrival = { delivery: String(request.headers['service-delivery']), atMs: steadyMs() };
      process.send?.(arrival);
    }
    if (request.url === '/close') response.setHeader('Connection', 'close');
    response.setHeader('Content-Length', 2).end('ok');
  });
});

server.listen(0, '127.0.0.1');
await once(server, 'listening');
// A server that listens on a port has an address of this shape.
const place: ReceiverPlace = { port: (server.address() as AddressInfo).port, ca: authority.ca };
process.send?.(place);
process.once('disconnect', () => process.exit());
