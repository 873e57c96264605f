import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';

import type { AttemptError } from '../../../src/server/webhooks/attempt-errors.ts';

/** Something a receiver does after TLS stands, and what an attempt makes of it. */
export interface Behaviour {
  name: string;
  behave: (socket: TLSSocket) => void;
  expected: number | AttemptError;
}

/** None of them knows more than one request on a connection. */
const SMALL = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok';

/** Does something when the first bytes of a request have come. */
function onRequest(answer: (socket: TLSSocket) => void): (socket: TLSSocket) => void {
  return (socket) => socket.once('data', () => answer(socket)).resume();
}

function says(text: string | Buffer): (socket: TLSSocket) => void {
  return onRequest((socket) => socket.write(text));
}

/** Goes on writing for as long as the other side takes it. */
function endlessly(head: string, next: () => string | Buffer): (socket: TLSSocket) => void {
  return onRequest((socket) => {
    const write = () => {
      while (!socket.destroyed && socket.write(next()));
    };
    socket.write(head);
    socket.on('drain', write);
    write();
  });
}

/** Writes a little, again and again. */
function dripping(head: string, drop: string, intervalMs: number): (socket: TLSSocket) => void {
  return onRequest((socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(drop), intervalMs);
    socket.once('close', () => clearInterval(timer));
  });
}

const block = Buffer.alloc(65_536, 'x');
const bomb = gzipSync(Buffer.alloc(10_000_000));

export const behaviours: readonly Behaviour[] = [
  { name: 'answers', behave: says(SMALL), expected: 200 },
  {
    name: 'answers before it has read the request',
    behave: (socket) => void socket.pause().write(SMALL),
    expected: 200,
  },
  {
    name: 'answers 204',
    behave: says('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n'),
    expected: 204,
  },
  {
    name: 'answers 500',
    behave: says('HTTP/1.1 500 Oh\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'),
    expected: 500,
  },
  { name: 'answers in HTTP/1.0', behave: says('HTTP/1.0 200 OK\r\n\r\nok'), expected: 200 },
  {
    name: 'sends a body without an end',
    behave: endlessly('HTTP/1.1 200 OK\r\n\r\n', () => block),
    expected: 200,
  },
  {
    name: 'announces 10 GB and sends them',
    behave: endlessly('HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n', () => block),
    expected: 200,
  },
  {
    name: 'sends a short body slowly',
    behave: dripping('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n', 'x', 50),
    expected: 200,
  },
  {
    name: 'sends a gzip bomb',
    behave: says(
      Buffer.concat([
        Buffer.from(
          `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\nContent-Length: ${bomb.length}\r\n\r\n`,
        ),
        bomb,
      ]),
    ),
    expected: 200,
  },
  {
    name: 'hangs up after the head',
    behave: onRequest((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n', () => socket.destroy());
    }),
    expected: 200,
  },
  { name: 'never answers', behave: onRequest(() => undefined), expected: 'timeout' },
  { name: 'never reads', behave: (socket) => void socket.pause(), expected: 'timeout' },
  { name: 'drips its head', behave: dripping('HTTP/1.1 200 OK\r\nX: ', 'x', 20), expected: 'timeout' },
  {
    name: 'sends 103 again and again',
    behave: dripping('', 'HTTP/1.1 103 Early Hints\r\n\r\n', 100),
    expected: 'timeout',
  },
  {
    name: 'floods with 103',
    behave: endlessly('', () => 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(100)),
    expected: 'protocol',
  },
  {
    name: 'floods with headers',
    behave: endlessly('HTTP/1.1 200 OK\r\n', () => 'X-Flood: xxxxxxxxxxxxxxxxxxxxxxxx\r\n'.repeat(100)),
    expected: 'protocol',
  },
  {
    name: 'sends a header of 64 kB',
    behave: says(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(65_536)}\r\n\r\n`),
    expected: 'protocol',
  },
  {
    name: 'switches protocols',
    behave: says('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
    expected: 'protocol',
  },
  { name: 'sends garbage', behave: says('\x16\x03\x01 garbage \r\n\r\n'), expected: 'protocol' },
  { name: 'answers in HTTP/2', behave: says('\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64'), expected: 'protocol' },
  {
    name: 'says two lengths',
    behave: says('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'),
    expected: 'protocol',
  },
  { name: 'closes without an answer', behave: onRequest((socket) => socket.end()), expected: 'reset' },
  { name: 'closes before the request', behave: (socket) => void socket.end(), expected: 'reset' },
  {
    // To close with bytes unread makes the system send a reset.
    name: 'resets in the middle of the request',
    behave: (socket) => void socket.once('data', () => socket.destroy()),
    expected: 'reset',
  },
  {
    name: 'closes within the head',
    behave: onRequest((socket) => socket.end('HTTP/1.1 200 OK\r\nX: ')),
    expected: 'reset',
  },
];
