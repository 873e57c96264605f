import { deflateSync } from 'node:zlib';
import { type Canvas, createCanvas, loadImage } from '@napi-rs/canvas';
import t from 'tap';
import { logoFromDataUrl, logoFromFile } from '../../../src/server/logos/logo.ts';
import { createRenderer } from '../../../src/server/invoice-pdf/render.ts';
import { exampleDocuments } from '../invoice-pdf/_documents.ts';
import { bytesOf, file, header, jpeg, logoProblem, png } from '../invoice-pdf/_pictures.ts';
import { paint, paintedLogo } from '../invoice-pdf/_reading.ts';

/** A PNG of chunks, for what no encoder writes. */
function rawPng(
  width: number,
  height: number,
  type: number[],
  data: Buffer,
  others: [string, Buffer][] = [],
) {
  const [depth, colours, interlaced = 0] = type;
  const pixels: [string, Buffer] = ['IDAT', deflateSync(data)];
  return file(header(width, height, depth, colours, interlaced), ...others, pixels);
}

const RED = [255, 0, 0];
const PINK = [255, 127, 127];
const WHITE = [255, 255, 255];
const GREY = [128, 128, 128];

/** Pictures are of two halves, and as small as logos may be. */
const SIZE = { width: 32, height: 16 };
/** A row of as many times the bytes of the left half, and as many times those of the right one. */
const rowOf = (left: readonly number[], right: readonly number[], count = SIZE.width / 2): number[] =>
  [left, right].flatMap((bytes) => Array.from({ length: count }, () => bytes).flat());
const rowsOf = (row: readonly number[]) => Array.from({ length: SIZE.height }, () => row).flat();

/** The rows of both halves, with the byte for no filter before each, as PNG files have it. */
const scanlines = (left: readonly number[], right: readonly number[], count?: number) =>
  Buffer.from(rowsOf([0, ...rowOf(left, right, count)]));

const raw = (type: number[], data: Buffer, others: [string, Buffer][] = []) =>
  rawPng(SIZE.width, SIZE.height, type, data, others);
/** The kind of PNG with so many numbers for a pixel. */
const KINDS = { 1: 0, 2: 4, 3: 2, 4: 6 };
const encoded = (channels: 1 | 2 | 3 | 4, left: number[], right: number[]) =>
  raw([8, KINDS[channels]], scanlines(left, right));
const bytesOf16 = (numbers: number[]) => numbers.flatMap((number) => [number >> 8, number & 255]);
const encoded16 = (channels: 3 | 4, left: number[], right: number[]) =>
  raw([16, KINDS[channels]], scanlines(bytesOf16(left), bytesOf16(right)));

const palette: [string, Buffer] = ['PLTE', Buffer.from([...GREY, ...RED])];
const clear = (...content: number[]): [string, Buffer] => ['tRNS', Buffer.from(content)];
const ofPalette = raw([8, 3], scanlines([1], [0]), [palette, clear(0)]);
const ofColour = raw([8, 2], scanlines(RED, [1, 2, 3]), [clear(0, 1, 0, 2, 0, 3)]);

/** Pictures of two colours, twice as wide as high, and the colours that a document shows of them. */
const pictures: [name: string, dataUrl: string, left: number[], right: number[]][] = [
  ['RGB', encoded(3, RED, GREY), RED, GREY],
  ['RGB and alpha', encoded(4, [...RED, 127], [...GREY, 0]), PINK, WHITE],
  ['16 bits', encoded16(3, [65535, 0, 0], [32896, 32896, 32896]), RED, GREY],
  ['16 bits and alpha', encoded16(4, [65535, 0, 0, 65535], [0, 0, 0, 0]), RED, WHITE],
  ['grey', encoded(1, [128], [255]), GREY, WHITE],
  ['grey and alpha', encoded(2, [128, 255], [0, 0]), GREY, WHITE],
  ['a palette with a transparent colour', ofPalette, RED, WHITE],
  ['a transparent grey', raw([8, 0], scanlines([128], [7]), [clear(0, 7)]), GREY, WHITE],
  ['a transparent colour', ofColour, RED, WHITE],
];

/** The colours at places of a picture as it is stored, whose whole width is 1. */
async function coloursOf(file: string, places: readonly (readonly [x: number, y: number])[]) {
  const image = await loadImage(bytesOf(logoFromDataUrl(file)));
  const context = createCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  return places.map(([x, y]) => [
    ...context.getImageData(Math.floor(x * image.width), Math.floor(y * image.width), 1, 1).data.slice(0, 3),
  ]);
}

t.test('a PNG of any type is stored in its colours, on white', async (t) => {
  for (const [name, file, left, right] of pictures) {
    const places = [
      [0.1, 0.25],
      [0.9, 0.25],
    ] as const;
    t.strictSame(await coloursOf(file, places), [left, right], name);
  }
});

/** The first example with a logo, which is stored before. */
async function renderedWith(logo: string): Promise<Buffer> {
  const [example] = await exampleDocuments();
  if (!example) throw new Error('there is no example');
  return createRenderer().render({ ...example.document, logo: logoFromDataUrl(logo) });
}

t.test('a document shows a logo at its place, and a small one is not blown up', async (t) => {
  const colourAt = await paintedLogo(await renderedWith(encoded(3, RED, GREY)), { width: 190, height: 62 });
  t.strictSame([colourAt(2, 6), colourAt(23.5, 11.5)], [RED, GREY]);
  t.strictSame([colourAt(25, 6), colourAt(12, 13)], [WHITE, WHITE]);
});

function drawn(): Canvas {
  const canvas = createCanvas(400, 150);
  const context = canvas.getContext('2d');
  context.fillStyle = '#b3541e';
  context.fillRect(0, 0, 400, 150);
  context.fillStyle = '#ffffff';
  context.fillRect(20, 20, 110, 110);
  return canvas;
}

t.test('a picture that is larger than paper can show is made smaller', async (t) => {
  const large = createCanvas(4800, 1600);
  large.getContext('2d').fillRect(0, 0, 4800, 800);
  const { width, height } = await loadImage(bytesOf(logoFromFile(await large.encode('png'))));
  t.strictSame([width, height], [1200, 400]);
});

/** A frame of a JPEG (T.81, B.2.2) with as many colours, without its picture. */
function frame(marker: number, bits: number, colours: number, [width, height] = [80, 80]): string {
  const components = Array.from({ length: colours }, (_, index) => [index + 1, 0x11, 0]).flat();
  const head = [0xff, marker, 0, 8 + 3 * colours, bits, 0, height, 0, width, colours];
  return jpeg(Buffer.from([0xff, 0xd8, ...head, ...components, 0xff, 0xd9]));
}

const damagedJpeg = 'the JPEG picture is damaged or cut short';
const tooLarge = 'it is 60000 by 60000 pixels, and a logo has at most 16000000 in all';
const bad: [problem: string, logo: string][] = [
  ['it is neither a PNG nor a JPEG picture', 'data:image/gif;base64,R0lGODlhAQABAAAAACw='],
  ['it is neither a PNG nor a JPEG picture', png(Buffer.from('x'))],
  ['the PNG picture is damaged or cut short', png(bytesOf(encoded(3, RED, GREY)).subarray(0, 50))],
  [tooLarge, rawPng(60_000, 60_000, [1, 0], Buffer.of(0))],
  ['it is 0 by 0 pixels, and a logo has at least 16 by 16', rawPng(0, 0, [8, 2], Buffer.of(0))],
  ['it is 1 by 1 pixels, and a logo has at least 16 by 16', rawPng(1, 1, [8, 0], Buffer.of(0, 0))],
  ['it is 8 by 15 pixels, and a logo has at least 16 by 16', frame(0xc0, 8, 3, [8, 15])],
  ['it is 0 by 0 pixels, and a logo has at least 16 by 16', frame(0xc0, 8, 3, [0, 0])],
  ['it is neither a PNG nor a JPEG picture', jpeg(Buffer.from('not a picture'))],
  [damagedJpeg, jpeg(Buffer.from([0xff, 0xd8, 0xff, 0xd9, 0, 0, 0, 0, 0, 0, 0, 0]))],
  [damagedJpeg, frame(0xc0, 8, 4)],
  [damagedJpeg, frame(0xc1, 12, 3)],
  [damagedJpeg, frame(0xc3, 8, 3)],
];

t.test('a file that is no logo is refused in words', async (t) => {
  for (const [problem, logo] of bad) t.equal(logoProblem(logo), problem);
});

t.test('a logo is kept as this service writes it, and stays so when it is read', async (t) => {
  for (const type of ['png', 'jpeg'] as const) {
    // The one cast joins two signatures that differ in what else they take.
    const kept = logoFromFile(await drawn().encode(type as 'png'));
    t.match(kept, /^data:image\/png;base64,/, type);
    t.equal(logoFromFile(bytesOf(kept)), kept, type);
  }
  const canvas = createCanvas(600, 400);
  const context = canvas.getContext('2d');
  // Noise, as a photograph is to a compressor.
  const noise = context.createImageData(600, 400);
  for (let at = 0, value = 1; at < noise.data.length; at += 1) {
    value = (value * 48_271) % 2_147_483_647;
    noise.data[at] = at % 4 === 3 ? 255 : value & 255;
  }
  context.putImageData(noise, 0, 0);
  const kept = logoFromFile(await canvas.encode('jpeg', 60));
  t.match(kept, /^data:image\/jpeg;base64,/);
  t.ok(kept.length < 1_000_000, `${kept.length} characters`);
  await paint(await renderedWith(kept), 'logo photograph', 1);
});

const unseen = 'nothing of it can be seen on white paper; give the one that is made for a light background';

t.test('a logo that cannot be seen on white paper is refused', async (t) => {
  const almost = encoded(3, [254, 252, 250], WHITE);
  for (const logo of [encoded(4, [0, 0, 0, 0], [255, 0, 0, 0]), encoded(1, [255], [255]), almost])
    t.equal(logoProblem(logo), unseen);
  t.equal(logoProblem(encoded(3, [255, 255, 200], WHITE)), undefined, 'a pale yellow is seen');
});

const [GREEN, BLUE] = [
  [0, 128, 0],
  [0, 0, 255],
];

/** How a camera that was turned stores a point of the upright picture: 64 wide and 32 high, as orientations tell it. */
const stored: ((x: number, y: number) => [number, number])[] = [
  (x, y) => [x, y],
  (x, y) => [64 - x, y],
  (x, y) => [64 - x, 32 - y],
  (x, y) => [x, 32 - y],
  (x, y) => [y, x],
  (x, y) => [y, 64 - x],
  (x, y) => [32 - y, 64 - x],
  (x, y) => [32 - y, x],
];

/** A picture with a colour in each corner, as it is stored in an orientation. */
function turned(place: (x: number, y: number) => [number, number]): Canvas {
  const [width, height] = [0, 1].map((axis) =>
    Math.max(...[place(0, 0), place(64, 32)].map((at) => at[axis] ?? 0)),
  );
  const canvas = createCanvas(width ?? 0, height ?? 0);
  const context = canvas.getContext('2d');
  [RED, GREEN, BLUE, GREY].forEach((colour, index) => {
    const [x, y] = [(index % 2) * 32, index < 2 ? 0 : 16];
    const [[left, top], [right, bottom]] = [place(x, y), place(x + 32, y + 16)];
    context.fillStyle = `rgb(${colour.join()})`;
    context.fillRect(left, top, right - left, bottom - top);
  });
  return canvas;
}

/** EXIF data of one entry: the orientation. */
function exif(orientation: number, isLittleEndian: boolean): Buffer {
  const digit = String(orientation);
  const bigEndian = `4d4d002a000000080001011200030000000100 0${digit} 000000000000`;
  const littleEndian = `49492a000800000001001201030001000000 0${digit} 00000000000000`;
  return Buffer.from((isLittleEndian ? littleEndian : bigEndian).replaceAll(' ', ''), 'hex');
}

t.test('a logo stands upright, however its picture was taken', async (t) => {
  for (const [index, place] of stored.entries()) {
    const orientation = index + 1;
    const canvas = turned(place);
    const data = exif(orientation, index % 2 === 0);
    const photo = await canvas.encode('jpeg', 100);
    const header = Buffer.of(0xff, 0xe1, 0, data.length + 8, ...Buffer.from('Exif\0\0'));
    const logo = jpeg(Buffer.concat([photo.subarray(0, 2), header, data, photo.subarray(2)]));
    const places = [
      [0.125, 0.0625],
      [0.875, 0.0625],
      [0.125, 0.4375],
      [0.875, 0.4375],
    ] as const;
    const corners = (await coloursOf(logo, places)).flat();
    const expected = [RED, GREEN, BLUE, GREY].flat();
    const isNear = (part: number, index: number) => Math.abs(part - (expected[index] ?? 0)) < 12;
    t.ok(corners.every(isNear), `orientation ${orientation}: ${corners.join(' | ')}`);
  }
});
