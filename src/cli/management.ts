import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import type { Config } from '../config.ts';
import { listen } from '../listen.ts';
import { createManagement, type ManagementOptions } from '../operator-pages.ts';
import { listenAs } from './ports.ts';

/**
 * Serves probes and metrics on MANAGEMENT_PORT, if the operator has set one: there no crowd of clients delays them.
 * @returns their address, of which disposing closes every connection.
 * @throws UsageError when the port is taken or the address isn't this machine's.
 */
export async function serveManagement(
  { managementHost: host, managementPort: port }: Pick<Config, 'managementHost' | 'managementPort'>,
  options: ManagementOptions,
): Promise<AsyncDisposable & { address: string | undefined }> {
  if (port === undefined) return { address: undefined, [Symbol.asyncDispose]: async () => undefined };
  const server = createManagement(options);
  const settings = { host: 'MANAGEMENT_HOST', port: 'MANAGEMENT_PORT' } as const;
  const connections = await listenAs(settings, { host, port }, () => listen(server, { host, port }));
  // A server that listens on a port has an address of this shape.
  const { address, family, port: chosen } = server.address() as AddressInfo;
  return {
    address: `http://${family === 'IPv6' ? `[${address}]` : address}:${chosen}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      // A connection that asked to CONNECT is none of the server's own any more.
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}
