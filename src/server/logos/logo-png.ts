import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import { orientationIn, type Picture, refuseBadSize, type StoredPicture, UPRIGHT } from './logo-picture.ts';

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** The most decompressed bytes: 16,000,000 pixels with four 8-bit channels, and their filter bytes. */
const DATA_BYTES_MAX = 65_000_000;
/** The number of samples per pixel, by colour type (PNG, third edition, 11.2.1). */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const TRUE_COLOUR = 2;
const PALETTE = 3;
const DAMAGED = 'the PNG picture is damaged';

interface Chunk {
  type: string;
  content: Buffer;
}

/**
 * Decodes a PNG of any colour type and depth. Only its pixels are decompressed, and no more of them than its header
 * allows.
 * @throws Error for a file that isn't a PNG, or is damaged or too large.
 */
export function decodePng(bytes: Buffer): StoredPicture {
  const isPng = bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE);
  if (!isPng) throw new Error('it is neither a PNG nor a JPEG picture');
  const [header, ...others] = chunksOf(bytes);
  if (header?.type !== 'IHDR' || header.content.length !== 13) throw new Error(DAMAGED);
  const size = { width: header.content.readUInt32BE(0), height: header.content.readUInt32BE(4) };
  refuseBadSize(size);
  const find = (type: string) => others.find((chunk) => chunk.type === type);
  if (find('IHDR')) throw new Error(DAMAGED);
  // Other chunks can hold anything and are dropped, including the palette that a true-colour picture can suggest.
  const palette = header.content[9] === PALETTE ? paletteOf(others) : undefined;
  const needed = [header, palette, find('tRNS'), pixelChunk(header.content, others)];
  const rgba = decodeOrRefuse(needed.filter((chunk) => chunk !== undefined));
  const exif = find('eXIf')?.content;
  return { ...size, orientation: exif ? orientationIn(exif) : UPRIGHT, rgba };
}

/** Returns the chunks of a file (PNG, third edition, 5.3), up to its end chunk. */
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

function paletteOf(chunks: readonly Chunk[]): Chunk {
  const palette = chunks.find(({ type }) => type === 'PLTE');
  if (!palette || palette.content.length > 256 * 3) throw new Error(DAMAGED);
  return palette;
}

function pixelChunk(header: Buffer, others: readonly Chunk[]): Chunk {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth = 0, colourType = 0] = header.subarray(8);
  const rowBytes = Math.ceil((width * depth * (CHANNELS[colourType] ?? 0)) / 8);
  // Each row begins with a filter byte. An interlaced picture has up to twice as many rows, which are padded too.
  const maxOutputLength = height * (rowBytes + 4) + 8;
  if (maxOutputLength > DATA_BYTES_MAX) throw new Error('the PNG picture has more bits than a logo needs');
  const compressed = others.filter(({ type }) => type === 'IDAT').map(({ content }) => content);
  const data = inflateOrRefuse(Buffer.concat(compressed), maxOutputLength);
  if (data.length < height * (rowBytes + 1)) throw new Error('the PNG picture is cut short');
  return { type: 'IDAT', content: deflateSync(data, { level: 0 }) };
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

function decodeOrRefuse(chunks: readonly Chunk[]): Buffer {
  const parts = [...chunks, { type: 'IEND', content: Buffer.of() }].flatMap(({ type, content }) => {
    const name = Buffer.from(type, 'latin1');
    return [uint32(content.length), name, content, uint32(crc32(content, crc32(name)))];
  });
  try {
    return PNG.sync.read(Buffer.concat([SIGNATURE, ...parts])).data;
  } catch (error) {
    throw new Error(DAMAGED, { cause: error });
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Writes a picture as a PNG in plain RGB. */
export function encodePng({ width, height, rgba }: Picture): Buffer {
  const png = new PNG({ width, height });
  png.data = rgba;
  return PNG.sync.write(png, { colorType: TRUE_COLOUR });
}
