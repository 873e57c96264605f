import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

import { networkOf } from './networks.ts';

/** Maximum connections that wait to be accepted; the operating system may have a lower limit. */
const BACKLOG = 4_096;

/** Maximum number of connections; further ones are closed immediately, so that a flood can't use up the memory. */
const CONNECTIONS_MAX = 10_000;

export interface ListenOptions {
  host: string;
  port: number;
  connectionsMax?: number;
  /** Maximum open connections per network (an IPv4 address, an IPv6 /64); unlimited behind trusted proxies. */
  connectionsPerNetworkMax?: number;
  trustedProxies?: number;
  /** The counter of connections that are refused because too many are open. */
  metrics?: { connectionRefused: () => void };
}

/**
 * Starts a server on a port, or on any free port if it is 0.
 * @returns a live set of the open connections.
 * @throws the system's error when the port is taken, or the address isn't this machine's.
 */
export async function listen(
  server: Server,
  {
    host,
    port,
    connectionsMax = CONNECTIONS_MAX,
    connectionsPerNetworkMax = Infinity,
    trustedProxies = 0,
    metrics,
  }: ListenOptions,
): Promise<ReadonlySet<Socket>> {
  const connections = new Set<Socket>();
  const countsByNetwork = new Map<string, number>();
  server.on('connection', (socket) => {
    connections.add(socket);
    const network = networkOf(socket.remoteAddress ?? '');
    const count = (countsByNetwork.get(network) ?? 0) + 1;
    countsByNetwork.set(network, count);
    socket.once('close', () => {
      connections.delete(socket);
      const rest = (countsByNetwork.get(network) ?? 0) - 1;
      if (rest > 0) countsByNetwork.set(network, rest);
      else countsByNetwork.delete(network);
    });
    // All clients of a proxy have the proxy's address.
    if (count > connectionsPerNetworkMax && trustedProxies === 0) {
      socket.resetAndDestroy();
      metrics?.connectionRefused();
    }
  });
  server.on('drop', () => metrics?.connectionRefused());
  server.maxConnections = connectionsMax;
  server.listen({ host, port, backlog: BACKLOG });
  await once(server, 'listening');
  return connections;
}
