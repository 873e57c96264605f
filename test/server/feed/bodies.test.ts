import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync, zstdCompressSync as zstd } from 'node:zlib';

import t from 'tap';

import { openTestDatabase } from '../../_server.ts';
import { connectTo } from '../../_socket.ts';
import { until } from '../../_command.ts';
import { createTestBackoffice, tablesChangedBy } from '../backoffice/_backoffice.ts';
import { openStaffedCompany } from '../backoffice/_changes.ts';
import { errorIn, headOf, job as jobOf, NDJSON, openDoor, portOf, tokenFor } from './_door.ts';

const BYTES_MAX = 8 * 1024 * 1024;
const coded = (coding: string) => ({ 'content-encoding': coding });
const typed = (type: string) => ({ 'content-type': type });
const [GZIP, ZSTD] = [coded('gzip'), coded('zstd')];
const objects = `${'{},'.repeat(2_000_000)}{}`;

const database = await openTestDatabase('sqlite');
const { engine } = database;
const { id: company } = await openStaffedCompany(createTestBackoffice(database).openCompany);
const { token } = await tokenFor(engine);
const door = await openDoor(engine, token);
t.teardown(async () => {
  await door[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const job = (number: number) => jobOf(company, number);
const text = JSON.stringify([job(0)]);
const padded = (bytes: number) => text.padEnd(bytes, ' ');
const many = (count: number) => JSON.stringify(Array.from({ length: count }, (_, number) => job(number)));
const damaged = Buffer.from(gzipSync(text));
damaged.writeUInt32LE(7, 12);
/** A frame of one plain block that asks its reader for a window of 64 MB (RFC 8878 section 3.1.1). */
const wide = Buffer.from(`28b52ffd0080000000${Buffer.from(text).toString('hex')}`, 'hex');
wide.writeUIntLE(text.length * 8 + 1, 6, 3);

/** What is no batch: the body, what its headers say, and the reason. */
const refused: [what: string, message: RegExp, body: string | Buffer, headers?: Record<string, string>][] = [
  ['nothing', /^The body is not JSON/, ''],
  ['no type', /^Content-Type must be .* not ""\.$/, text, typed('')],
  ['another type', /not "application\/json-seq"\.$/, text, typed('application/json-seq')],
  ['a form', /^Content-Type must be/, text, typed('multipart/form-data; boundary=x')],
  ['an array of nothing', /^The body has no change\.$/, ' [ ] '],
  ['blank lines', /^The body has no change\.$/, '\n\r\n \t\n', NDJSON],
  ['an object', /^The body must be an array of changes\.$/, '{"changes":[]}'],
  ['a part of an array', /^The body is not JSON/, text.slice(0, -1)],
  ['more than an array', /^The body is not JSON/, `${text}${text}`],
  ['deeper than any', /^The body is not JSON/, '['.repeat(150_000)],
  ['nothing but objects', /more than 200000 opening braces and brackets\.$/, `[[${objects}]]`],
  ['nothing but objects in a line', /more than 200000 opening/, `[${objects}`, NDJSON],
  ['another transfer', /^Transfer-Encoding must be chunked/, text, { 'transfer-encoding': 'gzip, chunked' }],
  ['a frame and nonsense', /^The body is not zstd/, Buffer.concat([zstd(text), Buffer.from('xx')]), ZSTD],
  ['more frames than changes', /more than 1000 frames/, Buffer.concat(Array(1_001).fill(zstd(''))), ZSTD],
  ['not in UTF-8', /^The body is not in UTF-8\.$/, Buffer.from([0x5b, 0x22, 0xe9, 0x22, 0x5d])],
  ['1,001 changes', /^The body has more than 1000 changes\.$/, many(1_001)],
  ['millions of changes', /^The body has more than 1000 changes\.$/, `[${'0,'.repeat(4_000_000)}0]`],
  ['1,001 lines', /^The body has more than 1000 lines\.$/, 'x\n'.repeat(1_000).concat('x'), NDJSON],
  ['millions of lines', /^The body has more than 1000 lines\.$/, '\n'.repeat(BYTES_MAX), NDJSON],
  ['a byte too long', /^The body has more than 8388608 bytes\.$/, padded(BYTES_MAX + 1)],
  ['too long as gzip', /more than 8388608 bytes/, gzipSync(padded(BYTES_MAX + 1)), GZIP],
  ['a bomb of gzip', /more than 8388608 bytes/, gzipSync(Buffer.alloc(100_000_000)), GZIP],
  ['a bomb of zstd', /more than 8388608 bytes/, zstd(Buffer.alloc(500_000_000)), ZSTD],
  ['a wide window', /^The body is not zstd: Frame requires too much memory/, wide, ZSTD],
  ['not gzip', /^The body is not gzip: incorrect header check\.$/, text, GZIP],
  ['not zstd', /^The body is not zstd: .*\.$/, text, ZSTD],
  [
    'a part of gzip',
    /^The body is not gzip: unexpected end of file\.$/,
    gzipSync(text).subarray(0, -9),
    GZIP,
  ],
  ['a part of zstd', /^The body is not zstd: .*\.$/, zstd(text).subarray(0, -5), ZSTD],
  ['damaged gzip', /^The body is not gzip: .*\.$/, damaged, GZIP],
  ['another coding', /^Content-Encoding must be gzip, zstd or identity, not "br"\.$/, text, coded('br')],
  ['two codings', /^Content-Encoding must be/, gzipSync(gzipSync(text)), coded('gzip, gzip')],
  ['a name that every object has', /^Content-Encoding must be/, text, coded('constructor')],
];

t.test('a body that is no batch is refused as a whole, with its reason', async (t) => {
  // Notes the use of the token.
  await door.apply([]);
  const changed = await tablesChangedBy(engine, async () => {
    for (const [what, message, body, headers] of refused) {
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
    [zstd(padded(BYTES_MAX)), coded('zstd')],
    [text, coded('identity')],
    [`\ufeff${text.slice(1, -1)}`, { ...NDJSON }],
    [Buffer.concat([text.slice(0, 9), text.slice(9), ''].map((part) => zstd(part))), ZSTD],
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

const head = (fields: string) => headOf('POST /feed/v1/changes', token, fields);

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
      /^HTTP\/1\.1 408 Request Timeout.*"invalid_request".*The request must be complete within 0\.1 seconds/s,
    );
  }
  using headless = await connectTo(portOf(other));
  headless.send('GET /feed/v1/changes/1?company=brennan HTTP/1.1\r\nHost: feed\r\n');
  t.match(
    await headless.closed,
    /^HTTP\/1\.1 408 .*"invalid_request".*The request's headers must be complete within 0\.1 seconds/s,
  );
  // The other request is over, too, whatever became of it.
  await until(async () => (await other.apply([{ ...job(1), id: 'last' }])).length === 1);
  t.strictSame(await engine.run('SELECT COUNT(*) AS jobs FROM jobs'), before);
});
