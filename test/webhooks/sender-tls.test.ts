import type { TlsOptions } from 'node:tls';

import t from 'tap';

import type { AttemptError } from '../../src/webhooks/sender.ts';
import { createAuthority } from './_certificates.ts';
import { authority, HOST, startTcpReceiver, startTlsReceiver } from './_receivers.ts';
import { DEADLINE_MS, requestTo, senderTo } from './_senders.ts';

const other = authority.issue({ names: ['other.example.com'] });
const expired = authority.issue({ names: [HOST], notAfter: new Date(Date.now() - 60_000) });
const unknown = createAuthority().issue({ names: [HOST] });
const wildcard = authority.issue({ names: ['*.example.com'] });
const bare = authority.issue({ names: [] });
/** OpenSSL speaks versions as old as these at this level only. */
const old: TlsOptions = { ciphers: 'DEFAULT:@SECLEVEL=0' };

const cases: readonly [name: string, options: TlsOptions, expected: number | AttemptError][] = [
  ['a certificate of its name', {}, 200],
  ['a certificate of all names beside it', wildcard, 200],
  ['TLS 1.2 only', { maxVersion: 'TLSv1.2' }, 200],
  ['TLS 1.3 only', { minVersion: 'TLSv1.3' }, 200],
  ['a certificate of another name', other, 'tls'],
  ['a certificate of no name', bare, 'tls'],
  ['a certificate that has expired', expired, 'tls'],
  ['a certificate of an unknown authority', unknown, 'tls'],
  ['TLS 1.1 only', { ...old, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }, 'tls'],
  ['TLS 1.0 only', { ...old, minVersion: 'TLSv1', maxVersion: 'TLSv1' }, 'tls'],
  ['HTTP/2 only', { ALPNProtocols: ['h2'] }, 'tls'],
  ['HTTP/2 and HTTP/1.1', { ALPNProtocols: ['h2', 'http/1.1'] }, 200],
];

for (const [name, options, expected] of cases) {
  t.test(`${expected} from a receiver with ${name}`, async (t) => {
    let received = '';
    await using receiver = await startTlsReceiver((socket) => {
      t.equal(socket.servername, HOST);
      socket.on('data', (part: Buffer) => {
        received += part.toString();
        if (received.endsWith('}')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
    }, options);
    await using sender = senderTo(receiver);
    const result = await sender.send(requestTo());
    if (typeof expected === 'number') t.match(result, { status: expected, error: null });
    else t.match(result, { status: null, error: expected, phases: { tls: Number, firstByte: null } });
    t.equal(received.startsWith('POST'), expected === 200, 'who isn’t trusted gets no byte of the request');
    await sender[Symbol.asyncDispose]();
    await receiver.deserted();
  });
}

t.test('tls from a receiver that speaks HTTP without TLS', async (t) => {
  await using receiver = await startTcpReceiver(
    (socket) => void socket.resume().write('HTTP/1.1 400 Bad Request\r\n\r\n'),
  );
  await using sender = senderTo(receiver);
  t.match(await sender.send(requestTo()), { status: null, error: 'tls' });
  await receiver.deserted();
});

t.test('tls from a receiver that hangs up instead of a handshake', async (t) => {
  await using receiver = await startTcpReceiver((socket) => socket.once('data', () => socket.destroy()));
  await using sender = senderTo(receiver);
  t.match(await sender.send(requestTo()), { status: null, error: 'tls' });
});

t.test('timeout from a receiver that never begins its handshake', async (t) => {
  await using receiver = await startTcpReceiver((socket) => socket.resume());
  await using sender = senderTo(receiver);
  const result = await sender.send(requestTo());
  t.match(result, { status: null, error: 'timeout', phases: { tls: Number, firstByte: null } });
  t.ok(result.totalMs >= DEADLINE_MS - 5 && result.totalMs < DEADLINE_MS + 300, `after ${result.totalMs} ms`);
  await receiver.deserted();
});
