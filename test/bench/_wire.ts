import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A relay in front of PostgreSQL that counts how often a client waits for the server. */
export interface Wire extends AsyncDisposable {
  url: string;
  /** Round trips so far: the server says once for each that it is ready for the next. */
  roundTrips: () => number;
}

const READY_FOR_QUERY = 'Z'.charCodeAt(0);
/** A message of the server: one byte says what it is, four how long it is, themselves included. */
const HEADER_BYTES = 5;

/** Opens a relay to the server of a database; its address is the database's with another port. */
export async function openWire(databaseUrl: string): Promise<Wire> {
  const target = new URL(databaseUrl);
  let count = 0;
  const sockets = new Set<Socket>();
  const relay = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    server.setNoDelay(true);
    client.setNoDelay(true);
    const onReady = countReady(() => (count += 1));
    server.on('data', onReady);
    client.pipe(server).pipe(client);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
    }
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const url = new URL(databaseUrl);
  // A server that listens on a port has an address of this shape.
  url.port = String((relay.address() as AddressInfo).port);
  return {
    url: url.href,
    roundTrips: () => count,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      relay.close();
      await once(relay, 'close');
    },
  };
}

/** Walks the messages of one connection, whatever pieces they come in. */
function countReady(onReady: () => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  /** Bytes of a message's body that are still to come. */
  let bodyBytes = 0;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const passed = Math.min(bodyBytes, rest.length);
      rest = rest.subarray(passed);
      bodyBytes -= passed;
      if (bodyBytes > 0 || rest.length < HEADER_BYTES) return;
      if (rest[0] === READY_FOR_QUERY) onReady();
      bodyBytes = rest.readUInt32BE(1) - 4;
      rest = rest.subarray(HEADER_BYTES);
    }
  };
}
