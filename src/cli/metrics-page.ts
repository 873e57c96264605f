import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Metrics } from '../metrics.ts';

/**
 * Shows metrics under /metrics on a port of their own, for a process that serves nothing else.
 * @returns its address, of which disposing closes every connection.
 */
export async function listenForMetrics(
  metrics: Metrics,
  { host, port }: { host: string; port: number },
): Promise<AsyncDisposable & { address: string }> {
  const server = createServer((req, res) => {
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (req.url !== '/metrics') {
      res.writeHead(404).end();
    } else if (req.method !== 'GET' && req.method !== 'HEAD') {
      res.writeHead(405, { Allow: 'GET, HEAD' }).end();
    } else {
      metrics.text().then(
        (text) => res.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
        () => res.writeHead(503).end(),
      );
    }
  });
  server.listen(port, host);
  // Rejects with the system's reason when the port is taken or the address isn't this machine's.
  await once(server, 'listening');
  // A server that listens on a port has an address of this shape.
  const { address, family, port: chosen } = server.address() as AddressInfo;
  return {
    address: `http://${family === 'IPv6' ? `[${address}]` : address}:${chosen}/metrics`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
