import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { bytesOf } from './networks.ts';

/** Milliseconds without progress after which a client that isn't reading its response is disconnected. */
const STALLED_MS_MAX = 30_000;
const LOOK_MS = 5_000;
/** Milliseconds between checks of connections about to close, short because their clients wait for the end. */
const CLOSING_LOOK_MS = 100;
/** Number of sent bytes below which a connection is closed at once, because little of them can be unread. */
const SMALL_BYTES_MAX = 65_536;

interface Connection {
  /** The client's address as written in the kernel's table of connections. */
  remote: string;
  /** Bytes that Node had passed to the kernel when the kernel's table was last read. */
  handedBytes: number;
  /** Upper bound of the bytes that the client had received by `takenAt`, when it last made progress. */
  takenBytesMax: number;
  takenAt: number;
  /** Closes our side of the connection; set while that has to wait for the client to receive everything. */
  close?: (() => void) | undefined;
}

/** Node's internal handle of a connection, from which `net` itself reads these counts on a timeout. */
interface Handle {
  bytesWritten: number;
  /** Number of bytes that haven't been passed to the kernel yet. */
  writeQueueSize: number;
}

export interface UnreadLimits {
  stalledMsMax?: number;
  lookMs?: number;
}

/**
 * Resets any connection whose client has received nothing more of its response for 30 seconds.
 *
 * Node considers a response sent as soon as the kernel has it. The kernel buffers up to 4 MB per connection, even for minutes
 * after the connection was closed. Only the kernel's table shows what the client has received, so a connection that has sent
 * much is closed only when the client has everything.
 */
export function endUnreadAnswers(
  server: Server,
  { stalledMsMax = STALLED_MS_MAX, lookMs = LOOK_MS }: UnreadLimits = {},
): void {
  const connections = new Map<Socket, Connection>();
  let timer: NodeJS.Timeout | undefined;
  let isSoon = false;
  const lookWithin = (ms: number) => {
    isSoon = ms < lookMs;
    clearTimeout(timer);
    timer = setTimeout(() => void look(), ms).unref();
  };
  const look = async () => {
    for (const [socket, connection] of connections) connection.handedBytes = handedBytes(socket);
    const unread = await unreadBytes(server);
    for (const [socket, connection] of connections) {
      const unreadByClient = unread.get(connection.remote) ?? 0;
      const hasAll = socket.writableLength + unreadByClient === 0;
      // The table may not include bytes that were passed to the kernel after it was read.
      if (hasAll && handedBytes(socket) === connection.handedBytes) finish(socket, connection);
      else if (hasStalled(socket, connection, unreadByClient, stalledMsMax)) socket.resetAndDestroy();
    }
    const isClosing = [...connections.values()].some(({ close }) => close);
    if (connections.size > 0) lookWithin(isClosing ? CLOSING_LOOK_MS : lookMs);
    else timer = undefined;
  };
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '', remotePort = 0 } = socket;
    const remote = listed(remoteAddress, remotePort);
    const connection: Connection = { remote, handedBytes: 0, takenBytesMax: 0, takenAt: performance.now() };
    connections.set(socket, connection);
    socket.once('close', () => connections.delete(socket));
    // Node calls `_final` before it closes our side, and only then releases the socket to the kernel.
    const close = socket._final.bind(socket);
    socket._final = (done) => {
      connection.close = () => close(done);
      if (socket.bytesWritten < SMALL_BYTES_MAX) finish(socket, connection);
      else if (!isSoon) lookWithin(CLOSING_LOOK_MS);
    };
    if (!timer) lookWithin(lookMs);
  });
  // Without a listener Node destroys a connection that was idle for too long, along with unread data.
  server.on('timeout', (socket: Socket) => socket.end());
}

/** Closes a connection whose client has received everything, if its closing was put off until then. */
function finish(socket: Socket, connection: Connection): void {
  connection.takenAt = performance.now();
  connection.close?.();
  connection.close = undefined;
  // A client that doesn't close its own side must not keep the connection open.
  if (socket.writableFinished) socket.destroy();
}

/** Returns the bytes that Node has passed to the kernel, which is fewer than it reports as written. */
function handedBytes({ _handle: handle }: Socket & { _handle?: Handle | null }): number {
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

/**
 * Whether a client has received nothing more for `msMax`. The table was read between two counts of the bytes passed to the
 * kernel, so it only bounds what was received. Only exceeding the bound is progress: new responses raise both counts.
 */
function hasStalled(socket: Socket, connection: Connection, unreadBytes: number, msMax: number): boolean {
  const takenBytesMax = handedBytes(socket) - unreadBytes;
  if (connection.handedBytes - unreadBytes > connection.takenBytesMax) {
    Object.assign(connection, { takenBytesMax, takenAt: performance.now() });
  } else connection.takenBytesMax = Math.min(connection.takenBytesMax, takenBytesMax);
  return performance.now() - connection.takenAt >= msMax;
}

/**
 * Returns the bytes that each client hasn't received yet, by address as in the table (`tx_queue`, proc_net_tcp.txt of the
 * kernel). Without such a table the result is empty, and only the bytes that Node itself holds are known.
 */
async function unreadBytes(server: Server): Promise<Map<string, number>> {
  const address = server.address() as AddressInfo | null;
  if (!address) return new Map();
  const table = await readFile(
    `/proc/self/net/${address.family === 'IPv6' ? 'tcp6' : 'tcp'}`,
    'latin1',
  ).catch(() => '');
  const row = new RegExp(
    `^ *\\d+: [0-9A-F]+:${portListed(address.port)} (\\S+) \\S+ (?!0{8})([0-9A-F]{8}):`,
    'gm',
  );
  return new Map(
    [...table.matchAll(row)].map(([, remote = '', bytes = '']) => [remote, parseInt(bytes, 16)]),
  );
}

/** Returns an address in the form of the kernel's table: each four bytes as one little-endian number. */
function listed(address: string, port: number): string {
  const words = Buffer.from(bytesOf(address));
  return `${words.swap32().toString('hex').toUpperCase()}:${portListed(port)}`;
}

function portListed(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}
