import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Test } from 'tap';
import { createClient } from '../../src/client/index.ts';
import type { Client, ClientOptions } from '../../src/client/index.ts';

/** A clock that waits by going forward. */
export interface MockClock {
  now: () => number;
  wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Lets time pass. */
  pass: (ms: number) => void;
  /** Every wait that was asked for, in milliseconds. */
  waits: number[];
}

export function createMockClock(): MockClock {
  let now = 0;
  const waits: number[] = [];
  return {
    now: () => now,
    wait: async (ms, signal) => {
      signal?.throwIfAborted();
      waits.push(ms);
      const end = now + ms;
      // A shorter wait ends first.
      await new Promise(setImmediate);
      now = Math.max(now, end);
    },
    pass: (ms) => {
      now += ms;
    },
    waits,
  };
}

/** Listens on a free port of this machine, or on the one that is named, until it is stopped or the test ends. */
export async function listen(
  t: Test,
  answer: RequestListener | Server,
  port = 0,
): Promise<{ url: string; port: number; stop: () => void }> {
  const server = typeof answer === 'function' ? createServer(answer) : answer;
  const sockets = new Set<Socket>();
  // A socket whose bytes nobody reads never closes by itself, even when its other end has.
  server.on('connection', (socket: Socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(stop);
  // A server that listens on a port has an address of this shape.
  const address = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${address.port}`, port: address.port, stop };
}

/** An address at which nobody listens. */
export async function silentAddress(t: Test): Promise<string> {
  const { url, stop } = await listen(t, () => undefined);
  stop();
  return url;
}

/** One answer of a service, well or badly behaved. */
export type Behaviour = (req: IncomingMessage, res: ServerResponse) => void;

/** A service on a port of its own, with a client of it on a mock clock. */
export interface Service {
  url: string;
  client: Client;
  clock: MockClock;
  /** The targets of the requests so far. */
  asked: string[];
  /** Their `Authorization`. */
  keys: (string | undefined)[];
}

/** Starts a service that behaves as told, once in each way; the last way stays. */
export async function startService(
  t: Test,
  behaviours: readonly Behaviour[],
  options: Partial<ClientOptions> = {},
): Promise<Service> {
  const asked: string[] = [];
  const keys: Service['keys'] = [];
  const { url } = await listen(t, (req, res) => {
    const behave = behaviours[Math.min(asked.length, behaviours.length - 1)];
    asked.push(req.url ?? '');
    keys.push(req.headers.authorization);
    behave?.(req, res);
  });
  const clock = createMockClock();
  const { now, wait } = clock;
  return {
    url,
    asked,
    keys,
    clock,
    client: createClient({ baseUrl: url, key: 'fl.test.1.x', now, wait, ...options }),
  };
}

export function answers(status: number, body: unknown, headers: Record<string, string> = {}): Behaviour {
  return (_req, res) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    res
      .writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'req-1', ...headers })
      .end(text);
  };
}

export function refuses(status: number, code: string, headers: Record<string, string> = {}): Behaviour {
  return answers(status, { error: { code, message: 'In words.' } }, headers);
}

/** Answers with one record. */
export const gives: Behaviour = answers(200, { data: { id: 'job_0001' } });

/** Everything that a list gives. */
export async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
