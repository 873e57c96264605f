import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions, type TLSSocket } from 'node:tls';

import { createAuthority } from './_certificates.ts';

/** A public name, for which the tests answer themselves. */
export const HOST = 'hooks.example.com';
export const authority = createAuthority();
export const certificate = authority.issue({ names: [HOST, '*.example.net'] });

/** Someone who takes deliveries, on 127.0.0.1. */
export interface Receiver extends AsyncDisposable {
  port: number;
  /** Connections so far. */
  connectionCount: () => number;
  /** Closes every connection at once, without another word. */
  hangUp: () => void;
  /** Resolves when no connection is open. */
  deserted: () => Promise<void>;
}

/** A receiver that behaves on each connection as it likes, once TLS stands. */
export async function startTlsReceiver(
  behave: (socket: TLSSocket) => void,
  options: TlsOptions = {},
): Promise<Receiver> {
  const server = createTlsServer({ ...certificate, ...options }, (socket) => {
    // The sender hangs up on most of them.
    socket.on('error', () => undefined);
    behave(socket);
  });
  server.on('tlsClientError', () => undefined);
  return await listening(server);
}

/** A receiver that knows no TLS. */
export async function startTcpReceiver(behave: (socket: Socket) => void): Promise<Receiver> {
  return await listening(createTcpServer(behave));
}

/** A receiver as they are meant to be. */
export async function startHttpsReceiver(listener: RequestListener): Promise<Receiver> {
  return await listening(createHttpsServer(certificate, listener));
}

async function listening(server: Server): Promise<Receiver> {
  const open = new Set<Socket>();
  let connectionCount = 0;
  // TLS servers are TCP servers: this is the connection beneath.
  server.on('connection', (socket: Socket) => {
    connectionCount += 1;
    open.add(socket.on('error', () => undefined).once('close', () => open.delete(socket)));
  });
  const hangUp = () => {
    for (const socket of open) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // A server that listens on a port has an address of this shape.
    port: (server.address() as AddressInfo).port,
    connectionCount: () => connectionCount,
    hangUp,
    deserted: async () => {
      while (open.size > 0) await Promise.all([...open].map((socket) => once(socket, 'close')));
    },
    async [Symbol.asyncDispose]() {
      server.close();
      hangUp();
      await once(server, 'close');
    },
  };
}
