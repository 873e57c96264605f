import { deflateSync } from 'node:zlib';
import t from 'tap';
import { logoFromFile } from '../../../src/server/logos/logo.ts';
import { bytesOf, file, header, jpeg, logoProblem } from '../invoice-pdf/_pictures.ts';

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

const unseen = 'nothing of it can be seen on white paper; give the one that is made for a light background';
const damaged = (type: string) => `the ${type} picture is damaged or cut short`;
const palette: [string, Buffer] = ['PLTE', Buffer.alloc(699_999)];
const inflated: [string, Buffer] = ['IDAT', bomb];

/** Pictures with their problems; some that decoders take are stored as small as all others. */
const bombs: [name: string, problem: string | undefined, logo: string][] = [
  ['far more pixels than 16 by 16', undefined, file(header(16, 16), inflated)],
  ['a second header', undefined, file(header(4000, 4000), inflated, header(16, 16), black(16, 16))],
  ['a second header that is larger', undefined, file(header(16, 16), black(16, 16), header(30_000, 30_000))],
  [
    'a long strip',
    'it is 1000000 by 16 pixels, and a logo has at most 8000 on each side',
    file(header(1_000_000, 16, 1, 0), inflated),
  ],
  ['64 bits for each pixel', unseen, file(header(4000, 4000, 16, 6), inflated)],
  ['too few pixels', damaged('PNG'), file(header(32, 32), black(16, 16))],
  ['scans behind a short table', damaged('JPEG'), hidden(0xdb, 3)],
  ['scans behind a long scan', damaged('JPEG'), hidden(0xda, 900)],
  ['no palette', damaged('PNG'), file(header(16, 16, 8, 3), black(16, 16))],
  ['a palette of 233,000 colours', damaged('PNG'), file(header(16, 16, 8, 3), palette, black(16, 16))],
  ['more interlaced bits than pixels', undefined, file(header(16, 16, 1, 0, 1), black(16, 16))],
  ['thousands of scans', damaged('JPEG'), scans(4000, 2000)],
  ['as many scans as the decoder takes', undefined, scans(4000, 100)],
];

t.test('a picture that takes far more to decode than it shows is refused at once, or small', async (t) => {
  for (const [name, problem, logo] of bombs) {
    const { rss } = process.memoryUsage();
    const startedAt = process.cpuUsage();
    t.equal(logoProblem(logo), problem, name);
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
  ];
  const plain = logoFromFile(bytesOf(file(header(16, 16), black(16, 16))));
  for (const other of others) {
    t.equal(logoFromFile(bytesOf(file(header(16, 16), other, black(16, 16)))), plain, other[0]);
  }
});
