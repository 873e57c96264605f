import { crc32, deflateSync } from 'node:zlib';
import { type Canvas, createCanvas } from '@napi-rs/canvas';
import { encode } from 'fast-png';
import t from 'tap';
import { logoProblem, readLogo } from '../../src/invoice-pdf/logo.ts';
import { createRenderer } from '../../src/invoice-pdf/render.ts';
import { conformanceProblems } from './_conformance.ts';
import { exampleDocuments } from './_documents.ts';
import { paint, pictureColours } from './_reading.ts';

const renderer = createRenderer();
const [example] = await exampleDocuments();

const png = (bytes: Uint8Array) => `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`;
const jpeg = (bytes: Uint8Array) => `data:image/jpeg;base64,${Buffer.from(bytes).toString('base64')}`;

/** A PNG of chunks, for what no encoder writes. */
function rawPng(
  width: number,
  height: number,
  [depth, type, interlaced = 0]: number[],
  data: Buffer,
  others: [string, Buffer][] = [],
): string {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth ?? 8, type ?? 0, 0, 0, interlaced], 8);
  const chunks: [string, Buffer][] = [
    ['IHDR', header],
    ...others,
    ['IDAT', deflateSync(data)],
    ['IEND', Buffer.of()],
  ];
  return png(
    Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      ...chunks.map(([name, content]) => chunk(name, content)),
    ]),
  );
}

function chunk(name: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const body = Buffer.concat([Buffer.from(name), content]);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

const RED = [255, 0, 0];
const PINK = [255, 128, 128];
const WHITE = [255, 255, 255];
const GREY = [128, 128, 128];

const transparentRow = [0, ...RED, ...RED, 1, 2, 3, 1, 2, 3];

/** Pictures of two colours, twice as wide as high, and the colours that a document shows of them. */
const pictures: [name: string, dataUrl: string, left: number[], right: number[]][] = [
  [
    'RGB',
    png(encode({ width: 2, height: 1, channels: 3, depth: 8, data: Uint8Array.from([...RED, ...GREY]) })),
    RED,
    GREY,
  ],
  [
    'RGB and alpha',
    png(
      encode({
        width: 2,
        height: 1,
        channels: 4,
        depth: 8,
        data: Uint8Array.from([...RED, 127, ...GREY, 0]),
      }),
    ),
    PINK,
    WHITE,
  ],
  [
    '16 bits',
    png(
      encode({
        width: 2,
        height: 1,
        channels: 3,
        depth: 16,
        data: Uint16Array.from([65535, 0, 0, 32896, 32896, 32896]),
      }),
    ),
    RED,
    GREY,
  ],
  [
    '16 bits and alpha',
    png(
      encode({
        width: 2,
        height: 1,
        channels: 4,
        depth: 16,
        data: Uint16Array.from([65535, 0, 0, 65535, 0, 0, 0, 0]),
      }),
    ),
    RED,
    WHITE,
  ],
  [
    'grey',
    png(encode({ width: 2, height: 1, channels: 1, depth: 8, data: Uint8Array.from([128, 255]) })),
    GREY,
    WHITE,
  ],
  [
    'grey and alpha',
    png(encode({ width: 2, height: 1, channels: 2, depth: 8, data: Uint8Array.from([128, 255, 0, 0]) })),
    GREY,
    WHITE,
  ],
  ['two colours in one bit', rawPng(2, 1, [1, 0], Buffer.of(0, 0b0100_0000)), [0, 0, 0], WHITE],
  [
    'a palette of four bits',
    rawPng(2, 1, [4, 3], Buffer.of(0, 0x10), [['PLTE', Buffer.from([...GREY, ...RED])]]),
    RED,
    GREY,
  ],
  [
    'a palette with a transparent colour',
    rawPng(2, 1, [8, 3], Buffer.of(0, 1, 0), [
      ['PLTE', Buffer.from([...GREY, ...RED])],
      ['tRNS', Buffer.of(0)],
    ]),
    RED,
    WHITE,
  ],
  [
    'a transparent grey',
    rawPng(2, 1, [8, 0], Buffer.of(0, 128, 7), [['tRNS', Buffer.of(0, 7)]]),
    GREY,
    WHITE,
  ],
  [
    'a transparent colour',
    rawPng(4, 2, [8, 2], Buffer.from([transparentRow, transparentRow].flat()), [
      ['tRNS', Buffer.of(0, 1, 0, 2, 0, 3)],
    ]),
    RED,
    WHITE,
  ],
  // The first pixel is of the first pass, and the second of the sixth (RFC 2083, 2.6).
  ['interlaced', rawPng(2, 1, [8, 2, 1], Buffer.of(0, ...RED, 0, ...GREY)), RED, GREY],
];

t.test('a PNG of any type is shown in its colours, on white', async (t) => {
  for (const [name, dataUrl, left, right] of pictures) {
    const { width, height, colorSpace } = readLogo(dataUrl);
    t.strictSame([width / height, colorSpace], [2, 'DeviceRGB'], name);
    t.strictSame(await pictureColours(await renderedWith(dataUrl)), [left, right], name);
  }
});

async function renderedWith(logo: string | undefined): Promise<Buffer> {
  if (!example) throw new Error('there is no example');
  return renderer.render({ ...example.document, logo });
}

function drawn(): Canvas {
  const canvas = createCanvas(400, 150);
  const context = canvas.getContext('2d');
  context.fillStyle = '#b3541e';
  context.fillRect(0, 0, 400, 150);
  context.fillStyle = '#ffffff';
  context.fillRect(20, 20, 110, 110);
  return canvas;
}

t.test('a document with a logo of either type keeps the rules', async (t) => {
  const canvas = drawn();
  const logos = { png: png(await canvas.encode('png')), jpeg: jpeg(await canvas.encode('jpeg')) };
  for (const [name, logo] of Object.entries(logos)) {
    const bytes = await renderedWith(logo);
    t.equal(logoProblem(logo), undefined);
    t.strictSame(conformanceProblems(bytes), [], name);
    t.ok(bytes.includes('/S /Figure'), name);
    await paint(bytes, `logo ${name}`, 1);
  }
});

t.test('a picture that is larger than paper can show is made smaller', async (t) => {
  const large = createCanvas(4800, 1600);
  const logo = readLogo(png(await large.encode('png')));
  t.strictSame([logo.width, logo.height], [1200, 400]);
});

/** A frame of a JPEG (T.81, B.2.2) with as many colours, without its picture. */
function frame(marker: number, bits: number, colours: number): string {
  const components = Array.from({ length: colours }, (_, index) => [index + 1, 0x11, 0]).flat();
  return jpeg(
    Buffer.of(
      0xff,
      0xd8,
      0xff,
      marker,
      0,
      8 + 3 * colours,
      bits,
      0,
      8,
      0,
      8,
      colours,
      ...components,
      0xff,
      0xd9,
    ),
  );
}

const bad: [problem: string, logo: string][] = [
  ['it is neither a PNG nor a JPEG picture', 'data:image/gif;base64,R0lGODlhAQABAAAAACw='],
  ['it is not a PNG picture', png(Buffer.from('x'))],
  [
    'the PNG picture is damaged',
    png(encode({ width: 2, height: 1, channels: 3, depth: 8, data: new Uint8Array(6) }).subarray(0, 50)),
  ],
  ['the PNG picture has more than 16000000 pixels', rawPng(60_000, 60_000, [1, 0], Buffer.of(0))],
  ['it is not a JPEG picture', jpeg(Buffer.from('not a picture'))],
  ['the JPEG picture is damaged', jpeg(Buffer.from([0xff, 0xd8, 0xff, 0xd9, 0, 0, 0, 0, 0, 0, 0, 0]))],
  ['the JPEG picture is in CMYK; save it in RGB', frame(0xc0, 8, 4)],
  ['the JPEG picture has more than 8 bits for each colour', frame(0xc1, 12, 3)],
  ['the JPEG picture has a coding that few readers know', frame(0xc3, 8, 3)],
];

t.test('a logo that cannot be embedded is left out, and never keeps a document back', async (t) => {
  const without = await renderedWith(undefined);
  for (const [problem, logo] of bad) {
    t.equal(logoProblem(logo), problem);
    t.ok((await renderedWith(logo)).equals(without), problem);
  }
});
