import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import express from 'express';
import fc from 'fast-check';
import got, { type Got, type Response } from 'got';
import t, { type Test } from 'tap';

import { hasTag, sendBody } from '../../../src/server/api/answer.ts';
import type { JsonText } from '../../../src/contract/json-text.ts';
import { anyCharacter } from '../../_characters.ts';
import { listen } from '../../client/_service.ts';

/** Leaves the body as it came over the wire, and sends no Accept-Encoding of its own. */
const client = got.extend({ retry: { limit: 0 }, throwHttpErrors: false, decompress: false });

interface Answering {
  http: Got;
  /** Sets the body that is answered, and what is known of its parts. */
  say: (body: string, digests?: string[]) => void;
  /** The number of bytes that the last answer reported. */
  reported: () => number;
}

/** A server that answers one body. Errors are the suite's to ask for (test/contract/_questions.ts). */
async function answering(t: Test): Promise<Answering> {
  let text = '';
  let digests: string[] = [];
  let reported = -1;
  const app = express();
  app.disable('etag').disable('x-powered-by');
  app.use((req, res) => {
    res.setHeader('X-Request-Id', 'one');
    reported = sendBody(req, res, { status: 200, body: text as JsonText<unknown>, digests });
  });
  const { url: prefixUrl } = await listen(t, app);
  return {
    http: client.extend({ prefixUrl }),
    say: (said, known = []) => {
      text = said;
      digests = known;
    },
    reported: () => reported,
  };
}

/** The headers that belong to an answer rather than to its connection. */
function ownHeaders({ headers }: Response): Record<string, unknown> {
  const ofConnection = ['date', 'connection', 'keep-alive'];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.includes(name)));
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');

const LARGE = JSON.stringify({ data: 'Brennan Heating & Electrical '.repeat(200) });

t.test(
  'whatever the body and the coding, the client reads the same text, with a tag of its own',
  async (t) => {
    const server = await answering(t);
    const read = async (text: string, encoding: string) => {
      server.say(text);
      const answer = await server.http('', { decompress: true, headers: { 'accept-encoding': encoding } });
      return { text: answer.body.slice(0, text.length), tag: answer.headers.etag };
    };
    const body = fc.string({ unit: anyCharacter, maxLength: 2_000 }).map((text) => JSON.stringify({ text }));
    const encodings = fc.constantFrom('gzip', 'identity', '*');
    const property = fc.asyncProperty(body, body, encodings, async (one, other, encoding) => {
      const [first, again, second] = [
        await read(one, encoding),
        await read(one, encoding),
        await read(other, encoding),
      ];
      const isTold = first.tag === again.tag && (first.tag === second.tag) === (one === other);
      return isTold && first.text === one && second.text === other;
    });
    await t.resolves(fc.assert(property, { numRuns: 80 }));
  },
);

t.test('304 has the headers that 200 would have, but for those of the body', async (t) => {
  const server = await answering(t);
  server.say(LARGE);
  const plain = (await server.http('')).headers.etag ?? '';
  const gzipped = (await server.http('', { headers: { 'accept-encoding': 'gzip' } })).headers.etag ?? '';
  const ending = (coding: string) => `${plain.slice(0, -1)}-${coding}"`;
  t.equal(gzipped, ending('gzip'), 'the compressed bytes have a tag of their own');
  for (const form of [plain, gzipped, ending('zstd'), '*', '"other"', ending('br')]) {
    for (const [encoding, etag] of [
      ['identity', plain],
      ['gzip', gzipped],
    ] as const) {
      const headers = { 'if-none-match': form, 'accept-encoding': encoding };
      const answer = await server.http('', { headers });
      const isKnown = !/other|-br/.test(form);
      t.equal(answer.statusCode, isKnown ? 304 : 200, `${form} ${encoding}`);
      if (!isKnown) continue;
      t.equal(answer.rawBody.length, 0);
      t.equal(server.reported(), 0);
      const kept = {
        'cache-control': 'private, no-cache',
        vary: 'Accept-Encoding',
        'x-request-id': 'one',
        etag,
      };
      t.strictSame(ownHeaders(answer), kept);
    }
  }
});

function decoded(bytes: Buffer, coding: string): Buffer {
  if (coding === 'none') return bytes;
  return coding === 'gzip' ? gunzipSync(bytes) : zstdDecompressSync(bytes);
}

t.test('a body is compressed when it is larger than 1 kB and the client prefers that', async (t) => {
  const server = await answering(t);
  const cases = [
    ['zstd', 'gzip, deflate, br, zstd | zstd | gzip;q=0.9, zstd | deflate, zstd'],
    ['gzip', 'gzip | GZIP | gzip, ZSTD;q=0.9 | zstd;q=0, gzip | zstd;q=0, * | br, gzip | gzip;q=0.001 | *'],
    [
      'gzip',
      'gzip;q=1.0, identity;q=0.5 | identity;q=0, gzip | identity;q=0.5, gzip;q=0.8 | *;q=0.1, identity;q=0',
    ],
    ['none', ' | identity, zstd;q=0.5 | gzip;q=0 | gzip;q=0, * | *;q=0 | identity | identity;q=0'],
    ['none', 'identity, gzip;q=0.5 | br | deflate | unknown;q=nonsense | gzip2'],
  ].flatMap(([coding = '', all = '']) =>
    all.split('|').map((encoding) => [encoding.trim(), coding] as const),
  );
  const asked = [[undefined, 'none'] as const, ...cases];
  for (const [encoding, coding] of asked) {
    server.say(LARGE);
    const headers = encoding === undefined ? {} : { 'accept-encoding': encoding };
    const { statusCode, headers: got, rawBody } = await server.http('', { headers });
    t.equal(statusCode, 200, String(encoding));
    t.equal(got['content-encoding'] ?? 'none', coding, `Accept-Encoding: ${encoding}`);
    t.equal(got.vary, 'Accept-Encoding');
    t.equal(Number(got['content-length']), rawBody.length);
    t.equal(server.reported(), rawBody.length, 'what is reported is what was sent');
    t.ok(textOf(decoded(Buffer.from(rawBody), coding)) === LARGE);
  }
});

t.test('1,024 bytes are not worth compressing, one more is', async (t) => {
  const server = await answering(t);
  const headers = { 'accept-encoding': 'gzip' };
  // The bytes count, not the characters: é has two.
  for (const [body, encoding] of [
    ['x'.repeat(1_024), undefined],
    ['x'.repeat(1_025), 'gzip'],
    ['é'.repeat(512), undefined],
    [`${'é'.repeat(512)}x`, 'gzip'],
  ] as const) {
    server.say(body);
    const answer = await server.http('', { headers });
    t.equal(answer.headers['content-encoding'], encoding);
    t.ok(textOf(encoding ? gunzipSync(answer.rawBody) : answer.rawBody) === body);
  }
});

t.test('a large body goes out whole, however many bytes its characters have', async (t) => {
  const server = await answering(t);
  for (const length of [4_096, 4_097, 30_000, 400_000]) {
    // One byte for each character, two of them in V8's shorter texts, three, and four for a pair.
    for (const [character, count] of Object.entries({ x: 0, é: 1, '€': 1, '😀': 500 })) {
      const body = 'x'.repeat(length - count * character.length) + character.repeat(count);
      const byteLength = Buffer.byteLength(body);
      server.say(body);
      const { rawBody, headers } = await server.http('');
      t.equal(
        headers['content-length'],
        String(byteLength),
        `${length} characters, ${count} of them ${character}`,
      );
      t.equal(server.reported(), byteLength);
      t.ok(textOf(rawBody) === body, 'the same text');
      const { headers: ofHead } = await server.http.head('');
      t.equal(ofHead['content-length'], String(byteLength), 'HEAD tells the same');
    }
  }
});

t.test('the digests of the parts of a body give its tag', async (t) => {
  const server = await answering(t);
  const tagOf = async (body: string, digests: string[]) => {
    server.say(body, digests);
    return (await server.http('')).headers.etag;
  };
  t.equal(await tagOf('{"data":1}', ['abc']), '"abc"', 'one part is told by its own digest');
  const listed = [
    ['a', 'b', 'end'],
    ['a', 'c', 'end'],
    ['b', 'a', 'end'],
    ['a', 'end'],
    ['a', 'b', 'a cursor'],
  ];
  const tags: unknown[] = [];
  for (const digests of listed) tags.push(await tagOf('{"data":[]}', digests));
  t.equal(new Set(tags).size, listed.length, 'any other part, order or cursor makes another tag');
  t.equal(await tagOf('another text', ['a', 'b', 'end']), tags[0], 'the text is not looked at');
});

t.test('only a tag of its own, or any, makes a body unchanged', async (t) => {
  const tags = ['"a"', '"a-gzip"'];
  for (const header of '"a" | W/"a" | "x", "a-gzip" | "x",W/"a","y" | * | "x,y" , "a"'.split('|'))
    t.equal(hasTag(header, tags), true, header);
  const others = '| , | a | w/"a" | "" | "A" | "x" | W/"x" | "x, *, y" | W/* | "x", * | "x, a, y"'.split('|');
  for (const header of [undefined, ...others]) t.equal(hasTag(header, tags), false, String(header));
});
