import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { bytesOf } from './networks.ts';

/** A client that takes nothing of its answer for so long is cut off. */
const STALLED_MS_MAX = 30_000;
const LOOK_MS = 5_000;
/** Connections that are to be closed are looked at this often, because their clients wait for the end. */
const CLOSING_LOOK_MS = 100;
/** A connection that has carried less than this is closed at once: its rest is small. */
const SMALL_BYTES_MAX = 65_536;

interface Connection {
  /** The client as the kernel's table writes it. */
  remote: string;
  /** The bytes that the kernel had got from Node when its table was last asked for. */
  handedBytes: number;
  /** The most that the client can have taken by `takenAt`, when it was last seen to take something. */
  takenBytesMax: number;
  takenAt: number;
  /** Closes our side, which waits until the client has taken everything. */
  close?: (() => void) | undefined;
}

/** Node's own object of a connection, which `net` asks for the same when a connection times out. */
interface Handle {
  bytesWritten: number;
  /** The bytes that still wait for the kernel. */
  writeQueueSize: number;
}

export interface UnreadLimits {
  stalledMsMax?: number;
  lookMs?: number;
}

/**
 * Resets each connection whose client takes nothing of its answer for 30 seconds, whatever the answer is.
 *
 * Node takes an answer for sent once the kernel has it. The kernel keeps up to 4 MB for each connection, and goes on to
 * do so for minutes after the connection was closed. So its own table says what the client has taken, and a connection
 * that has carried much is closed only when the client has everything.
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
      // The table may lack what was handed over meanwhile.
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
    // Node calls it before it closes our side; only after that does it give the socket back to the kernel.
    const close = socket._final.bind(socket);
    socket._final = (done) => {
      connection.close = () => close(done);
      if (socket.bytesWritten < SMALL_BYTES_MAX) finish(socket, connection);
      else if (!isSoon) lookWithin(CLOSING_LOOK_MS);
    };
    if (!timer) lookWithin(lookMs);
  });
  // Without a listener Node destroys a connection that was idle for too long, together with what is unread.
  server.on('timeout', (socket: Socket) => socket.end());
}

/** Goes on with a connection whose client has taken everything. */
function finish(socket: Socket, connection: Connection): void {
  connection.takenAt = performance.now();
  connection.close?.();
  connection.close = undefined;
  // A client that doesn't close its own side may not keep the connection.
  if (socket.writableFinished) socket.destroy();
}

/** The bytes of a connection's answers that the kernel has got, which are fewer than Node takes for sent. */
function handedBytes({ _handle: handle }: Socket & { _handle?: Handle | null }): number {
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

/**
 * The table is from a moment between two looks at what was handed over, so it tells what the client has taken within
 * bounds. Only what passes them counts: answers to a client that goes on asking move what is handed over, too.
 */
function hasStalled(socket: Socket, connection: Connection, unreadBytes: number, msMax: number): boolean {
  const takenBytesMax = handedBytes(socket) - unreadBytes;
  if (connection.handedBytes - unreadBytes > connection.takenBytesMax) {
    Object.assign(connection, { takenBytesMax, takenAt: performance.now() });
  } else connection.takenBytesMax = Math.min(connection.takenBytesMax, takenBytesMax);
  return performance.now() - connection.takenAt >= msMax;
}

/**
 * The bytes that each client of a server hasn't taken yet (`tx_queue`, proc_net_tcp.txt of the kernel). Where there is
 * no such table, only what Node itself holds is known.
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

/** An address as the kernel's table writes it: each four bytes as one number, in the order of a PC's memory. */
function listed(address: string, port: number): string {
  const words = Buffer.from(bytesOf(address));
  return `${words.swap32().toString('hex').toUpperCase()}:${portListed(port)}`;
}

function portListed(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}
