import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { decode } from 'fast-png';
import type { DecodedPng } from 'fast-png';
import { type Decoded, orientationIn, type Picture, refuseBadSize, UPRIGHT } from './logo-picture.ts';

const WHITE = 255;
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** Of 16,000,000 pixels with 8 bits for each of four channels, with the bytes of the filters. */
const DATA_BYTES_MAX = 65_000_000;
/** Samples of each pixel, by the colour type (PNG, third edition, 11.2.1). */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const PALETTE = 3;

/**
 * Decodes a PNG of any colour type and depth. Nothing but its pixels is decompressed, and no more of them than its
 * header allows.
 * @throws Error when it isn't one, or is damaged or too large.
 */
export function decodePng(bytes: Buffer): Decoded {
  const isPng = bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE);
  if (!isPng) throw new Error('it is neither a PNG nor a JPEG picture');
  const [header, ...others] = chunksOf(bytes);
  if (header?.type !== 'IHDR' || header.content.length !== 13) throw new Error(DAMAGED);
  const size = { width: header.content.readUInt32BE(0), height: header.content.readUInt32BE(4) };
  refuseBadSize(size);
  if (others.some(({ type }) => type === 'IHDR')) throw new Error(DAMAGED);
  const exif = others.find(({ type }) => type === 'eXIf')?.content;
  const png = decodeOrRefuse(header.content, others);
  return { ...size, orientation: exif ? orientationIn(exif) : UPRIGHT, colourAt: colourReader(png) };
}

const DAMAGED = 'the PNG picture is damaged';

interface Chunk {
  type: string;
  content: Buffer;
}

/** The parts of a file (PNG, third edition, 5.3), up to its end. */
function chunksOf(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  let offset = SIGNATURE.length;
  while (offset + 12 <= bytes.length && chunks.at(-1)?.type !== 'IEND') {
    const start = offset + 8;
    const end = start + bytes.readUInt32BE(offset);
    chunks.push({ type: bytes.toString('latin1', offset + 4, start), content: bytes.subarray(start, end) });
    offset = end + 4;
  }
  return chunks;
}

/**
 * Decodes the pixels from the chunks that they need. The others may hold anything, and are left out: a colour profile
 * can decompress to any size.
 */
function decodeOrRefuse(header: Buffer, others: readonly Chunk[]): DecodedPng {
  const find = (type: string) => others.find((chunk) => chunk.type === type);
  const colourType = header[9] ?? 0;
  // A picture of true colours may suggest a palette.
  const palette = colourType === PALETTE ? find('PLTE') : undefined;
  if (colourType === PALETTE && (palette?.content.length ?? Infinity) > 256 * 3) throw new Error(DAMAGED);
  const data = pixelData(header, others);
  try {
    const content = deflateSync(data, { level: 0 });
    const kept = [palette, find('tRNS'), { type: 'IDAT', content }].filter((chunk) => chunk !== undefined);
    return decode(
      fileOf([{ type: 'IHDR', content: header }, ...kept, { type: 'IEND', content: Buffer.of() }]),
    );
  } catch (error) {
    throw new Error(DAMAGED, { cause: error });
  }
}

/** Decompresses the pixels, which are as many bytes as the header says. */
function pixelData(header: Buffer, others: readonly Chunk[]): Buffer {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth = 0, colourType = 0, , , interlacing = 0] = header.subarray(8);
  if (interlacing === 1 && depth < 8) {
    throw new Error('it is interlaced with fewer than 8 bits for each colour; save it without interlacing');
  }
  const rowBytes = Math.ceil((width * depth * (CHANNELS[colourType] ?? 0)) / 8);
  // Each row begins with a byte for its filter, and an interlaced picture has up to twice as many rows.
  const maxOutputLength = height * (rowBytes + 2) + 8;
  if (maxOutputLength > DATA_BYTES_MAX) throw new Error('the PNG picture has more bits than a logo needs');
  const compressed = others.filter(({ type }) => type === 'IDAT').map(({ content }) => content);
  const data = inflateOrRefuse(Buffer.concat(compressed), maxOutputLength);
  if (data.length < height * (rowBytes + 1)) throw new Error('the PNG picture is cut short');
  return data;
}

function inflateOrRefuse(compressed: Buffer, maxOutputLength: number): Buffer {
  try {
    return inflateSync(compressed, { maxOutputLength });
  } catch (error) {
    const isLarger = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new Error(isLarger ? 'the PNG picture holds more data than it has pixels' : DAMAGED, {
      cause: error,
    });
  }
}

/** A PNG of these chunks. */
function fileOf(chunks: readonly Chunk[]): Buffer {
  const parts = chunks.flatMap(({ type, content }) => {
    const name = Buffer.from(type, 'latin1');
    return [uint32(content.length), name, content, uint32(crc32(content, crc32(name)))];
  });
  return Buffer.concat([SIGNATURE, ...parts]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** The compressed pixels of a picture as a PNG holds them: each row begins with a zero, for no filter. */
export function compressPixels({ width, height, rgb }: Picture): Buffer {
  const rows = Buffer.alloc(height * (width * 3 + 1));
  for (let row = 0; row < height; row++) {
    rgb.copy(rows, row * (width * 3 + 1) + 1, row * width * 3, (row + 1) * width * 3);
  }
  return deflateSync(rows, { level: 9 });
}

/** A PNG in plain RGB of the pixels that `compressPixels` gives. */
export function pngOf(width: number, height: number, pixels: Buffer): Buffer {
  const header = Buffer.concat([uint32(width), uint32(height), Buffer.of(8, 2, 0, 0, 0)]);
  return fileOf([
    { type: 'IHDR', content: header },
    { type: 'IDAT', content: pixels },
    { type: 'IEND', content: Buffer.of() },
  ]);
}

type ColourReader = Decoded['colourAt'];

/** Reads a pixel as 8-bit colours, laid on white where it is transparent. */
function colourReader(png: DecodedPng): ColourReader {
  const { channels, depth, palette } = png;
  const sampleAt = sampleReader(png);
  const largest = 2 ** depth - 1;
  const lay = (sample: number, alpha: number) => WHITE + (sample - WHITE) * alpha;
  if (palette) {
    return (x, y, into) => {
      const [red = 0, green = 0, blue = 0, alpha = WHITE] = palette[sampleAt(x, y, 0)] ?? [];
      const opacity = alpha / WHITE;
      into[0] = lay(red, opacity);
      into[1] = lay(green, opacity);
      into[2] = lay(blue, opacity);
    };
  }
  const colours = channels >= 3 ? 3 : 1;
  const opacityAt = opacityReader(png, sampleAt);
  return (x, y, into) => {
    const opacity = opacityAt(x, y);
    for (let colour = 0; colour < 3; colour++) {
      const sample = sampleAt(x, y, colours === 3 ? colour : 0);
      into[colour] = lay((sample / largest) * WHITE, opacity);
    }
  };
}

type SampleReader = (x: number, y: number, channel: number) => number;

/** Samples of fewer than 8 bits are packed into bytes, and each row begins with a new one. */
function sampleReader({ width, channels, depth, data }: DecodedPng): SampleReader {
  if (depth >= 8) return (x, y, channel) => data[(y * width + x) * channels + channel] ?? 0;
  const rowBytes = Math.ceil((width * depth) / 8);
  const mask = 2 ** depth - 1;
  return (x, y) => {
    const bit = x * depth;
    const byte = data[y * rowBytes + (bit >> 3)] ?? 0;
    return (byte >> (8 - depth - (bit & 7))) & mask;
  };
}

function opacityReader(
  { channels, depth, transparency }: DecodedPng,
  sampleAt: SampleReader,
): (x: number, y: number) => number {
  const largest = 2 ** depth - 1;
  if (channels === 2 || channels === 4) return (x, y) => sampleAt(x, y, channels - 1) / largest;
  if (!transparency) return () => 1;
  // One colour is transparent.
  return (x, y) => {
    for (let channel = 0; channel < channels; channel++) {
      if (sampleAt(x, y, channel) !== transparency[channel]) return 1;
    }
    return 0;
  };
}
