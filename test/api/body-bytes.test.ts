import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

import fc from 'fast-check';
import t from 'tap';

import { encodeBody, endWith } from '../../src/api/body-bytes.ts';
import { type JsonParts, type JsonText, listEnvelope, textOf } from '../../src/contract/json-text.ts';

const list = (items: readonly string[]) => listEnvelope(items as JsonText<string>[], null);

function isRight(parts: JsonParts<unknown>): boolean {
  const { bytes, byteLength } = encodeBody(parts);
  const expected = Buffer.from(textOf(parts));
  return expected.equals(Buffer.from(bytes)) && byteLength === expected.length;
}

t.test('a body is its text in UTF-8, whatever its characters', async (t) => {
  // Long enough, most of them, to be encoded part by part.
  const item = fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(text).repeat(40));
  const property = fc.property(fc.array(item, { maxLength: 60 }), (items) => isRight(list(items)));
  t.doesNotThrow(() => fc.assert(property, { numRuns: 300 }));
  t.ok(isRight(list(['"\ud83d"'.repeat(2_000)])), 'half of a pair, which has no encoding, is replaced');
});

t.test('a body of any length is whole', (t) => {
  const limit = 128 * 1024;
  const lengths = [0, 4_096, limit / 3, limit, 3 * limit].flatMap((length) =>
    [-40, -22, -1, 0, 1, 22, 40].map((off) => Math.max(0, length + off)),
  );
  const cut: string[] = [];
  for (const length of lengths) {
    for (const character of ['x', 'é', '€', '😀']) {
      const text = character.repeat(length / character.length);
      const items = Array.from({ length: 10 }, () => character.repeat(length / character.length / 10));
      const bodies = {
        'in one item': list([text]),
        'in ten items': list(items),
        'before the items': { ...list(items), before: text },
        'after the items': { ...list(items), after: text },
      };
      const wrong = Object.entries(bodies).filter(([, body]) => !isRight(body));
      cut.push(...wrong.map(([place]) => `${length} characters ${character} ${place}`));
    }
  }
  t.strictSame(cut, []);
  t.end();
});

/** Of any other number, all is another text. */
const bodyOf = (number: number) => list(Array.from({ length: 100 }, () => String(number).padStart(800, '0')));

t.test('what a client is slow to take stays as it was while others are answered', async (t) => {
  const server = createServer((req, res) => {
    const { bytes, byteLength } = encodeBody(bodyOf(Number(req.url?.slice(1))));
    res.writeHead(200, { 'Content-Length': byteLength });
    endWith(res, bytes);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo;
  const clients = [1, 2, 3].map((client) => ({ client, socket: connect(port, '127.0.0.1').pause() }));
  // Asked all at once, each is sent far more than the system keeps for a client that doesn't read.
  const asked = Array.from({ length: 200 }, (_value, index) => index);
  for (const { client, socket } of clients) {
    const requests = asked.map((index) => `GET /${client * 1_000 + index} HTTP/1.1\r\nHost: here\r\n`);
    socket.write(`${requests.join('\r\n')}Connection: close\r\n\r\n`);
  }
  for (let other = 0; other < 50; other += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/${other}`);
    t.ok((await response.text()) === textOf(bodyOf(other)), 'a client that reads');
  }
  for (const { client, socket } of clients) {
    const expected = asked.map((index) => textOf(bodyOf(client * 1_000 + index)));
    let received = '';
    for await (const chunk of socket) received += String(chunk);
    const bodies = received.split(/HTTP\/1\.1 200 OK\r\n(?:[^\r]+\r\n)*\r\n/).slice(1);
    t.strictSame(
      bodies.map((body, index) => body === expected[index]),
      asked.map(() => true),
      `client ${client}`,
    );
  }
  server.closeAllConnections();
  server.close();
});
