import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Engine } from '../../src/server/store/engines/engine.ts';
import { openEngine } from '../../src/server/store/engines/open-engine.ts';

/** The database that a peer was started for; it serves until it is ended. */
export function openGivenDatabase(): Promise<Engine> {
  return openEngine(process.env.DATABASE_URL ?? '');
}

/** Listens on a free port of this machine and prints the address, for whoever started the process. */
export async function listen(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  announce(server);
}

export function announce(server: Server): void {
  // A server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`http://127.0.0.1:${port}\n`);
}
