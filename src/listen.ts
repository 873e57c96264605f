import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Server as SocketServer, type Socket } from 'node:net';

/**
 * A turn of the event loop takes one new connection from each socket that listens, however many wait (libuv's pull
 * request 3696). A crowd's turns are long: from a single socket that was 65 connections a second, and of a thousand that
 * came at once, or a load balancer's probe behind them, some waited for 13 seconds. Linux spreads those who come evenly
 * over sockets that share a port.
 */
const SOCKETS = process.platform === 'linux' ? 32 : 1;

/**
 * Connections that may wait to be taken from each; the system may allow fewer. Node's own 511 are too few for a crowd that
 * comes at once: the rest would be told nothing, and try again after seconds.
 */
const BACKLOG = 4_096;

/** More connections than this are refused, so that a flood can't use up the memory. */
const CONNECTIONS_MAX = 10_000;

/** A server's connections, whichever socket took them. */
export interface Listening {
  /** Those that are open, kept up to date. */
  connections: ReadonlySet<Socket>;
  /** Takes no more of them; resolves once all are closed. */
  stop: () => Promise<void>;
}

/**
 * Has a server answer on a port, or on any that is free if it is 0.
 * @throws the system's error when the port is taken, or the address isn't this machine's.
 */
export async function listen(
  server: Server,
  { host, port, connectionsMax = CONNECTIONS_MAX }: { host: string; port: number; connectionsMax?: number },
): Promise<Listening> {
  // The sockets would share it with another process's too; those of two that start in the same millisecond still do.
  if (SOCKETS > 1) await findFree({ host, port });
  const sockets: SocketServer[] = [];
  const add = async (socket: SocketServer, at: number) => {
    socket.listen({ host, port: at, backlog: BACKLOG, reusePort: SOCKETS > 1 });
    await once(socket, 'listening');
    sockets.push(socket);
  };
  const stop = async () => {
    const closed = sockets.map((socket) => once(socket, 'close'));
    for (const socket of sockets) socket.close();
    await Promise.all(closed);
  };
  const connections = boundConnections(server, connectionsMax);
  try {
    await add(server, port);
    // A server that listens on a port has an address of this shape.
    const { port: shared } = server.address() as AddressInfo;
    const take = (connection: Socket) => server.emit('connection', connection);
    while (sockets.length < SOCKETS) {
      // With what Node's HTTP server gives its own.
      await add(createServer({ allowHalfOpen: true, noDelay: true }, take), shared);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { connections, stop };
}

/** Node's own `maxConnections` counts those of each listening socket by themselves. */
function boundConnections(server: Server, max: number): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (open.size > max) socket.destroy();
  });
  return open;
}

/** Rejects if somebody listens there. */
async function findFree(options: { host: string; port: number }): Promise<void> {
  const probe = createServer().listen(options);
  await once(probe, 'listening');
  const closed = once(probe, 'close');
  probe.close();
  await closed;
}
