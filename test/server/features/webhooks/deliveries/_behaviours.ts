import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';

import type { AttemptError } from '../../../../../src/server/sending/attempt-errors.ts';

/** Something a receiver does after TLS stands, and what an attempt makes of it. */
export type Behaviour = [name: string, behave: (socket: TLSSocket) => void, expected: number | AttemptError];

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
const bombHead = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\nContent-Length: ${bomb.length}\r\n\r\n`;

const OK = 'HTTP/1.1 200 OK\r\n';
const EARLY = 'HTTP/1.1 103 Early Hints\r\n';

/** Announces 10 GB and sends them. */
export const sendHuge = endlessly(`${OK}Content-Length: 10000000000\r\n\r\n`, () => block);

export const behaviours: readonly Behaviour[] = [
  ['answers', says(SMALL), 200],
  ['answers before it has read the request', (socket) => void socket.pause().write(SMALL), 200],
  ['answers 204', says('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n'), 204],
  ['answers 500', says('HTTP/1.1 500 Oh\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'), 500],
  ['answers in HTTP/1.0', says('HTTP/1.0 200 OK\r\n\r\nok'), 200],
  ['says 103 sixteen times before it answers', says(`${EARLY}\r\n`.repeat(16) + SMALL), 200],
  ['sends a body without an end', endlessly(`${OK}\r\n`, () => block), 200],
  ['announces 10 GB and sends them', sendHuge, 200],
  ['sends a short body slowly', dripping(`${OK}Content-Length: 1000\r\n\r\n`, 'x', 50), 200],
  ['sends a gzip bomb', says(Buffer.concat([Buffer.from(bombHead), bomb])), 200],
  [
    'hangs up after the head',
    onRequest((socket) => void socket.write(`${OK}Content-Length: 100\r\n\r\n`, () => socket.destroy())),
    200,
  ],
  ['never answers', onRequest(() => undefined), 'timeout'],
  ['never reads', (socket) => void socket.pause(), 'timeout'],
  ['drips its head', dripping(`${OK}X: `, 'x', 20), 'timeout'],
  ['sends 103 again and again', dripping('', `${EARLY}\r\n`, 100), 'timeout'],
  ['says 103 seventeen times before it answers', says(`${EARLY}\r\n`.repeat(17) + SMALL), 'protocol'],
  ['floods with 103', endlessly('', () => `${EARLY}Link: </x>\r\n\r\n`.repeat(100)), 'protocol'],
  [
    'floods with headers',
    endlessly(OK, () => 'X-Flood: xxxxxxxxxxxxxxxxxxxxxxxx\r\n'.repeat(100)),
    'protocol',
  ],
  ['sends a header of 64 kB', says(`${OK}X: ${'x'.repeat(65_536)}\r\n\r\n`), 'protocol'],
  [
    'switches protocols',
    says('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
    'protocol',
  ],
  ['sends garbage', says('\x16\x03\x01 garbage \r\n\r\n'), 'protocol'],
  ['answers in HTTP/2', says('\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64'), 'protocol'],
  ['says two lengths', says(`${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`), 'protocol'],
  ['closes without an answer', onRequest((socket) => socket.end()), 'reset'],
  ['closes before the request', (socket) => void socket.end(), 'reset'],
  // To close with bytes unread makes the system send a reset.
  [
    'resets in the middle of the request',
    (socket) => void socket.once('data', () => socket.destroy()),
    'reset',
  ],
  ['closes within the head', onRequest((socket) => socket.end(`${OK}X: `)), 'reset'],
];
