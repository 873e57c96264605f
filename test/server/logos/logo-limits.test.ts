import { deflateSync } from 'node:zlib';
import t from 'tap';
import { logoFromFile, readLogo } from '../../../src/server/logos/logo.ts';
import { bytesOf, file, header, jpeg } from '../invoice-pdf/_pictures.ts';

/** Pixels of black, and what becomes 200 megabytes from 200 kilobytes. */
const black = (width: number, height: number): [string, Buffer] => [
  'IDAT',
  deflateSync(Buffer.alloc(height * (width * 3 + 1))),
];
const bomb = deflateSync(Buffer.alloc(200_000_000));

/** A progressive JPEG of one grey component with so many scans that each pass over every block in a few bytes. */
function scans(side: number, count: number): string {
  const segment = (marker: number, ...content: number[]) =>
    Buffer.from([0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 255, ...content]);
  // The one AC code is a run of 32,767 blocks without coefficients.
  const runs = '0'.padEnd(15, '1').repeat(Math.ceil((side / 8) ** 2 / 32_767));
  const bits = runs.padEnd(Math.ceil(runs.length / 8) * 8, '1').match(/.{8}/g) ?? [];
  const coded = bits.map((text) => parseInt(text, 2)).flatMap((byte) => (byte === 255 ? [255, 0] : [byte]));
  const scan = Buffer.concat([segment(0xda, 1, 1, 0, 1, 63, 0), Buffer.from(coded)]);
  const size = [side >> 8, side & 255];
  return jpeg(
    Buffer.concat([
      Buffer.of(0xff, 0xd8),
      segment(0xdb, 0, ...Array<number>(64).fill(1)),
      segment(0xc2, 8, ...size, ...size, 1, 1, 0x11, 0),
      segment(0xc4, 0x10, 1, ...Array<number>(15).fill(0), 0xe0),
      ...Array<Buffer>(count).fill(scan),
      Buffer.of(0xff, 0xd9),
    ]),
  );
}

/** With scans behind what is one segment by its length, and not by its content. */
function hidden(marker: number, said: number): string {
  const whole = bytesOf(scans(4000, 300));
  const at = whole.indexOf(Buffer.of(0xff, marker)) + 2;
  whole.writeUInt16BE(said, at);
  return jpeg(whole);
}

const damaged = 'the PNG picture is damaged';
const tooMuch = 'the PNG picture holds more data than it has pixels';
const tooManyScans = (count: number) => `the JPEG picture has ${count} scans, which is too many for its size`;
const palette: [string, Buffer] = ['PLTE', Buffer.alloc(699_999)];
const inflated: [string, Buffer] = ['IDAT', bomb];

const bombs: [name: string, problem: string, logo: string][] = [
  ['far more pixels than 16 by 16', tooMuch, file(header(16, 16), inflated, ['IEND', Buffer.of()])],
  ['a second header', damaged, file(header(4000, 4000), inflated, header(16, 16), black(16, 16))],
  ['a second header that is larger', damaged, file(header(16, 16), black(16, 16), header(30_000, 30_000))],
  [
    'a long strip',
    'it is 1000000 by 16 pixels, and a logo has at most 8000 on each side',
    file(header(1_000_000, 16, 1, 0), inflated),
  ],
  [
    '64 bits for each pixel',
    'the PNG picture has more bits than a logo needs',
    file(header(4000, 4000, 16, 6), inflated),
  ],
  ['too few pixels', 'the PNG picture is cut short', file(header(32, 32), black(16, 16))],
  ['scans behind a short table', 'the JPEG picture is damaged', hidden(0xdb, 3)],
  ['scans behind a long scan', 'the JPEG picture is damaged', hidden(0xda, 900)],
  ['no palette', damaged, file(header(16, 16, 8, 3), black(16, 16))],
  ['a palette of 233,000 colours', damaged, file(header(16, 16, 8, 3), palette, black(16, 16))],
  ['more interlaced bits than pixels', tooMuch, file(header(16, 16, 1, 0, 1), black(16, 16))],
  ['thousands of scans', tooManyScans(2000), scans(4000, 2000)],
  ['the least of scans that are too many', tooManyScans(16), scans(4000, 16)],
];

t.test('a picture that takes far more to decode than it shows is refused at once', async (t) => {
  for (const [name, problem, logo] of bombs) {
    const { rss } = process.memoryUsage();
    const startedAt = process.cpuUsage();
    t.throws(() => logoFromFile(bytesOf(logo)), { message: problem }, name);
    t.throws(() => readLogo(logo), { message: problem }, `${name}, kept by an earlier version`);
    const { user, system } = process.cpuUsage(startedAt);
    t.ok(user + system < 2_000_000, `${name} takes ${(user + system) / 1_000} ms of the processor`);
    t.ok(process.memoryUsage().rss - rss < 300_000_000, name);
  }
});

t.test('what is not a pixel is not decompressed, and not kept', async (t) => {
  const others: [string, Buffer][] = [
    ['iCCP', Buffer.concat([Buffer.from('profile\0\0'), bomb])],
    ['zTXt', Buffer.concat([Buffer.from('Comment\0\0'), bomb])],
    ['iTXt', Buffer.concat([Buffer.from('Comment\0\x01\0\0\0'), bomb])],
    ['PLTE', Buffer.from([1, 2, 3])],
    ['fdAT', bomb],
  ];
  const plain = logoFromFile(bytesOf(file(header(16, 16), black(16, 16))));
  for (const other of others) {
    t.equal(logoFromFile(bytesOf(file(header(16, 16), other, black(16, 16)))), plain, other[0]);
  }
});
