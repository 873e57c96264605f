import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync, zstdCompressSync } from 'node:zlib';

import t from 'tap';

import { openTestDatabase } from '../../_server.ts';
import { connectTo } from '../../_socket.ts';
import { until } from '../../_command.ts';
import { createTestBackoffice, tablesChangedBy } from '../backoffice/_backoffice.ts';
import { jobCreate, openStaffedCompany } from '../backoffice/_changes.ts';
import { type Door, errorIn, openDoor, tokenFor } from './_door.ts';

const BYTES_MAX = 8 * 1024 * 1024;
const NDJSON = { 'content-type': 'application/x-ndjson' };
const coded = (coding: string) => ({ 'content-encoding': coding });

const database = await openTestDatabase('sqlite');
const { engine } = database;
const { id: company } = await openStaffedCompany(createTestBackoffice(database).openCompany);
const { token } = await tokenFor(engine);
const door = await openDoor(engine, token);
t.teardown(async () => {
  await door[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const job = (number: number) => ({ id: `c${number}`, company, ...jobCreate({ id: `job_${number}` }) });
const text = JSON.stringify([job(0)]);
const padded = (bytes: number) => text.padEnd(bytes, ' ');
const many = (count: number) => JSON.stringify(Array.from({ length: count }, (_, number) => job(number)));
const damaged = Buffer.from(gzipSync(text));
damaged.writeUInt32LE(7, 12);
/** A frame of one plain block that asks its reader for a window of 64 MB (RFC 8878 section 3.1.1). */
const wide = Buffer.from(`28b52ffd0080000000${Buffer.from(text).toString('hex')}`, 'hex');
wide.writeUIntLE(text.length * 8 + 1, 6, 3);

const refused: [what: string, body: string | Buffer, headers: Record<string, string>, message: RegExp][] = [
  ['nothing', '', {}, /^The body is not JSON/],
  ['no type', text, { 'content-type': '' }, /^Content-Type must be .* not ""\.$/],
  ['another type', text, { 'content-type': 'application/json-seq' }, /not "application\/json-seq"\.$/],
  ['a form', text, { 'content-type': 'multipart/form-data; boundary=x' }, /^Content-Type must be/],
  ['an array of nothing', ' [ ] ', {}, /^The body has no change\.$/],
  ['blank lines', '\n\r\n \t\n', NDJSON, /^The body has no change\.$/],
  ['an object', '{"changes":[]}', {}, /^The body must be an array of changes\.$/],
  ['a part of an array', text.slice(0, -1), {}, /^The body is not JSON/],
  ['more than an array', `${text}${text}`, {}, /^The body is not JSON/],
  ['deeper than any', '['.repeat(150_000), {}, /^The body is not JSON/],
  [
    'nothing but objects',
    `[[${'{},'.repeat(2_000_000)}{}]]`,
    {},
    /more than 200000 opening braces and brackets\.$/,
  ],
  ['nothing but objects in a line', `[${'{},'.repeat(2_000_000)}{}]`, NDJSON, /more than 200000 opening/],
  [
    'another coding of its transfer',
    text,
    { 'transfer-encoding': 'gzip, chunked' },
    /^Transfer-Encoding must be chunked/,
  ],
  [
    'a frame and nonsense',
    Buffer.concat([zstdCompressSync(text), Buffer.from('xx')]),
    coded('zstd'),
    /^The body is not zstd/,
  ],
  [
    'more frames than changes',
    Buffer.concat(Array.from({ length: 1_001 }, () => zstdCompressSync(''))),
    coded('zstd'),
    /more than 1000 frames/,
  ],
  ['not in UTF-8', Buffer.from([0x5b, 0x22, 0xe9, 0x22, 0x5d]), {}, /^The body is not in UTF-8\.$/],
  ['1,001 changes', many(1_001), {}, /^The body has more than 1000 changes\.$/],
  ['millions of changes', `[${'0,'.repeat(4_000_000)}0]`, {}, /^The body has more than 1000 changes\.$/],
  ['1,001 lines', 'x\n'.repeat(1_000).concat('x'), NDJSON, /^The body has more than 1000 lines\.$/],
  ['millions of lines', '\n'.repeat(BYTES_MAX), NDJSON, /^The body has more than 1000 lines\.$/],
  ['a byte too long', padded(BYTES_MAX + 1), {}, /^The body has more than 8388608 bytes\.$/],
  ['too long as gzip', gzipSync(padded(BYTES_MAX + 1)), coded('gzip'), /more than 8388608 bytes/],
  ['a bomb of gzip', gzipSync(Buffer.alloc(500_000_000)), coded('gzip'), /more than 8388608 bytes/],
  ['a bomb of zstd', zstdCompressSync(Buffer.alloc(500_000_000)), coded('zstd'), /more than 8388608 bytes/],
  ['a wide window', wide, coded('zstd'), /^The body is not zstd: Frame requires too much memory/],
  ['not gzip', text, coded('gzip'), /^The body is not gzip: incorrect header check\.$/],
  ['not zstd', text, coded('zstd'), /^The body is not zstd: .*\.$/],
  [
    'a part of gzip',
    gzipSync(text).subarray(0, -9),
    coded('gzip'),
    /^The body is not gzip: unexpected end of file\.$/,
  ],
  ['a part of zstd', zstdCompressSync(text).subarray(0, -5), coded('zstd'), /^The body is not zstd: .*\.$/],
  ['damaged gzip', damaged, coded('gzip'), /^The body is not gzip: .*\.$/],
  ['another coding', text, coded('br'), /^Content-Encoding must be gzip, zstd or identity, not "br"\.$/],
  ['two codings', gzipSync(gzipSync(text)), coded('gzip, gzip'), /^Content-Encoding must be/],
  ['a name that every object has', text, coded('constructor'), /^Content-Encoding must be/],
];

t.test('a body that is no batch is refused as a whole, with its reason', async (t) => {
  // Notes the use of the token.
  await door.apply([]);
  const changed = await tablesChangedBy(engine, async () => {
    for (const [what, body, headers, message] of refused) {
      const reply = await door.post(body, headers);
      t.equal(reply.status, 400, what);
      t.match(errorIn(reply.body), { code: 'invalid_request', message }, what);
    }
  });
  t.strictSame(changed, []);
});

t.test('a body is taken up to its limits, as it is or compressed', async (t) => {
  const taken: [string | Buffer, Record<string, string>][] = [
    [padded(BYTES_MAX), {}],
    [`\ufeff\n\t${text}\n`, { 'content-type': 'Application/JSON; charset=utf-8' }],
    [gzipSync(padded(BYTES_MAX)), coded('GZIP')],
    [zstdCompressSync(padded(BYTES_MAX)), coded('zstd')],
    [text, coded('identity')],
    [`\ufeff${text.slice(1, -1)}`, { ...NDJSON }],
    [
      Buffer.concat([text.slice(0, 9), text.slice(9), ''].map((part) => zstdCompressSync(part))),
      coded('zstd'),
    ],
    [many(1_000), {}],
    [many(1_000).slice(1, -1).replaceAll('},{"id"', '}\n{"id"'), NDJSON],
  ];
  for (const [body, headers] of taken) {
    const { status, body: answered } = await door.post(body, headers);
    t.equal(status, 200);
    t.match(answered, /"id":"c0","status":"(?:applied|skipped)"/);
  }
  const [row] = await engine.run('SELECT COUNT(*) AS jobs FROM jobs');
  t.equal(Number(row?.jobs), 1_000);
});

/** The head of a request, whose body is to follow. */
const head = (fields: string) =>
  `POST /feed/v1/changes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${fields}\r\n\r\n`;

const portOf = ({ url }: Door) => Number(new URL(url).port);

t.test('whoever goes on sending a body that is too long gets the answer all the same', async (t) => {
  const parts = [`Content-Length: ${BYTES_MAX * 2}`, 'Transfer-Encoding: chunked'];
  for (const part of parts) {
    const socket = connect(portOf(door), '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1').on('data', (more: string) => (received += more));
    const whole = Buffer.alloc(BYTES_MAX * 2, ' ');
    const framed = part.startsWith('T')
      ? Buffer.concat([Buffer.from(`${whole.length.toString(16)}\r\n`), whole, Buffer.from('\r\n0\r\n\r\n')])
      : whole;
    socket.write(head(part));
    socket.write(framed);
    socket.write(`${head(`Content-Length: ${text.length}\r\nConnection: close`)}${text}`);
    await once(socket, 'close');
    t.match(received, /^HTTP\/1\.1 400 .*more than 8388608 bytes.*HTTP\/1\.1 200 .*"id":"c0"/s, part);
  }
});

t.test('a body that breaks off, or comes too slowly, changes nothing and is told why', async (t) => {
  await using other = await openDoor(engine, token, { requestMsMax: 100 });
  const before = await engine.run('SELECT COUNT(*) AS jobs FROM jobs');
  const whole = JSON.stringify([job(7_000)]);
  for (const coding of ['identity', 'gzip']) {
    const start = `${head(`Content-Length: ${whole.length}\r\nContent-Encoding: ${coding}`)}${whole.slice(0, -1)}`;
    const broken = await connectTo(portOf(other));
    broken.send(start);
    broken[Symbol.dispose]();
    using slow = await connectTo(portOf(other));
    slow.send(start);
    t.match(
      await slow.closed,
      /^HTTP\/1\.1 408 Request Timeout.*"invalid_request".*The request must be complete within 30 seconds/s,
    );
  }
  // The other request is over, too, whatever became of it.
  await until(async () => (await other.apply([{ ...job(1), id: 'last' }])).length === 1);
  t.strictSame(await engine.run('SELECT COUNT(*) AS jobs FROM jobs'), before);
});
