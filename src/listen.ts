import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Connections that may wait to be taken; the system may allow fewer. */
const BACKLOG = 4_096;

/** More connections than this are closed at once, so that a flood can't use up the memory. */
const CONNECTIONS_MAX = 10_000;

/**
 * Has a server answer on a port, or on any that is free if it is 0.
 * @returns its open connections, kept up to date.
 * @throws the system's error when the port is taken, or the address isn't this machine's.
 */
export async function listen(
  server: Server,
  { host, port, connectionsMax = CONNECTIONS_MAX }: { host: string; port: number; connectionsMax?: number },
): Promise<ReadonlySet<Socket>> {
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  server.maxConnections = connectionsMax;
  server.listen({ host, port, backlog: BACKLOG });
  await once(server, 'listening');
  return connections;
}
