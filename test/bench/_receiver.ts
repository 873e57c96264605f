/*
 * A receiver of webhooks in a process of its own, over TLS on 127.0.0.1. It answers 200 to everything, closes the
 * connection after a request for /close, tells its parent where it is, and ends with it.
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { createAuthority } from '../server/sending/_certificates.ts';

export interface ReceiverPlace {
  port: number;
  ca: string;
}

const authority = createAuthority();
const server = createServer(authority.issue({ names: ['*.example.net'] }), (request, response) => {
  request.resume().once('end', () => {
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
