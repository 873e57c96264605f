import { decode, encode } from 'jpeg-js';
import { orientationIn, type Picture, refuseBadSize, type StoredPicture, UPRIGHT } from './logo-picture.ts';

/** Baseline, extended and progressive, with Huffman coding. */
const SUPPORTED_FRAMES = [0xc0, 0xc1, 0xc2];
/** The other frames: lossless, hierarchical, and with arithmetic coding. */
const OTHER_FRAMES = [0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf];
const SCAN = 0xda;
const END = 0xd9;
const APP1 = 0xe1;
const EXIF = 'Exif\0\0';
/** The largest picture needs some 400 MB. */
const DECODING_MB_MAX = 512;
/** A progressive picture of 16,000,000 pixels has a dozen scans, and takes three seconds. */
const SCANNED_PIXELS_MAX = 250_000_000;
const DAMAGED = 'the JPEG picture is damaged';

interface Segment {
  marker: number;
  content: Buffer;
  /** All of it, with the coded data behind a scan's. */
  raw: Buffer;
}

const [TABLES, HUFFMAN, RESTART] = [0xdb, 0xc4, 0xdd];
/** JFIF, and how the colours are coded. */
const [APP0, APP14] = [0xe0, 0xee];
/** The segments that a decoder needs. */
const DECODED = [APP0, APP14, TABLES, HUFFMAN, RESTART, SCAN, ...SUPPORTED_FRAMES];
const [BEGIN_BYTES, END_BYTES] = [Buffer.from([0xff, 0xd8]), Buffer.from([0xff, END])];

/** The bytes that the content of a segment has to have by what it says itself (B.2.2 to B.2.4); undefined for any number. */
function bytesNeeded(marker: number, content: Buffer): number | undefined {
  if (SUPPORTED_FRAMES.includes(marker)) return 6 + 3 * (content[5] ?? 0);
  if (marker === SCAN) return 4 + 2 * (content[0] ?? 0);
  if (marker === RESTART) return 2;
  if (marker !== TABLES && marker !== HUFFMAN) return undefined;
  let at = 0;
  while (at < content.length) {
    const counts = content.subarray(at + 1, at + 17);
    const isWide = (content[at] ?? 0) >> 4 > 0;
    if (marker === TABLES) at += isWide ? 129 : 65;
    else at += 17 + counts.reduce((sum, count) => sum + count, 0);
  }
  return at;
}

/** @throws Error for a segment in which a decoder would read another number of bytes, and then find other segments. */
function refuseOtherLength(marker: number, content: Buffer): void {
  if ((bytesNeeded(marker, content) ?? content.length) !== content.length) throw new Error(DAMAGED);
}

/** The marker segments of a JPEG picture (ITU-T T.81, B.1.1), without the coded data between them. */
function segmentsOf(bytes: Buffer): Segment[] {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) throw new Error('it is not a JPEG picture');
  const segments: Segment[] = [];
  let offset = 2;
  while (offset + 4 <= bytes.length) {
    const marker = bytes[offset + 1] ?? 0;
    if (bytes[offset] !== 0xff) throw new Error(DAMAGED);
    if (marker === END) break;
    // A marker may be preceded by any number of fill bytes.
    if (marker === 0xff) {
      offset += 1;
      continue;
    }
    const end = offset + 2 + bytes.readUInt16BE(offset + 2);
    if (end < offset + 4 || end > bytes.length) throw new Error('the JPEG picture is damaged or cut short');
    const content = bytes.subarray(offset + 4, end);
    refuseOtherLength(marker, content);
    const next = marker === SCAN ? afterCodedData(bytes, end) : end;
    segments.push({ marker, content, raw: bytes.subarray(offset, next) });
    offset = next;
  }
  return segments;
}

/** The next marker that is neither a stuffed byte nor a restart marker. */
function afterCodedData(bytes: Buffer, start: number): number {
  let at = bytes.indexOf(0xff, start);
  while (at >= 0) {
    const next = bytes[at + 1] ?? END;
    if (next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at;
    at = bytes.indexOf(0xff, at + 2);
  }
  return bytes.length;
}

/**
 * Decodes a JPEG picture.
 * @throws Error for one that is damaged, cut short or too large, or has more scans than a picture needs.
 */
export function decodeJpeg(bytes: Buffer): StoredPicture {
  const segments = segmentsOf(bytes);
  const { width, height } = frameOf(segments);
  const scanned = segments.filter(({ marker }) => marker === SCAN);
  // Each scan goes through the components that it names.
  const passes = scanned.reduce((sum, { content }) => sum + (content[0] ?? 0), 0);
  if (passes * width * height > SCANNED_PIXELS_MAX) {
    throw new Error(`the JPEG picture has ${scanned.length} scans, which is too many for its size`);
  }
  try {
    const needed = segments.filter(({ marker }) => DECODED.includes(marker)).map(({ raw }) => raw);
    const { data } = decode(Buffer.concat([BEGIN_BYTES, ...needed, END_BYTES]), {
      tolerantDecoding: false,
      maxMemoryUsageInMB: DECODING_MB_MAX,
      maxResolutionInMP: 16,
    });
    return { width, height, orientation: orientationOf(segments), rgba: data };
  } catch (error) {
    throw new Error('the JPEG picture is damaged or cut short', { cause: error });
  }
}

/** The size of a picture, from its one frame (B.2.2). */
function frameOf(segments: readonly Segment[]): { width: number; height: number } {
  if (segments.some(({ marker }) => OTHER_FRAMES.includes(marker))) {
    throw new Error('the JPEG picture has a coding that few readers know');
  }
  const [frame, another] = segments.filter(({ marker }) => SUPPORTED_FRAMES.includes(marker));
  if (!frame || another || frame.content.length < 6) throw new Error(DAMAGED);
  const [bits = 0, , , , , colours = 0] = frame.content;
  const size = { width: frame.content.readUInt16BE(3), height: frame.content.readUInt16BE(1) };
  if (bits !== 8) throw new Error('the JPEG picture has more than 8 bits for each colour');
  refuseBadSize(size);
  if (colours !== 1 && colours !== 3) throw new Error('the JPEG picture is in CMYK; save it in RGB');
  return size;
}

function orientationOf(segments: readonly Segment[]): number {
  const exif = segments.find(
    ({ marker, content }) => marker === APP1 && content.toString('latin1', 0, 6) === EXIF,
  );
  return exif ? orientationIn(exif.content.subarray(6)) : UPRIGHT;
}

/** The segments that jpeg-js writes: JFIF, quantization, a baseline frame, Huffman tables, and one scan. */
const PLAIN = [0xe0, 0xdb, 0xc0, 0xc4, SCAN].join();

/** The size of a picture as this service writes it, which needs no decoding; undefined for any other one. */
export function plainJpegSize(bytes: Buffer): { width: number; height: number } | undefined {
  const segments = segmentsOf(bytes);
  return segments.map(({ marker }) => marker).join() === PLAIN ? frameOf(segments) : undefined;
}

/** A photograph has more pixels than paper shows, and at this quality takes half the bytes of 92. */
const QUALITY = 80;

/** Writes a picture as a plain JPEG. */
export function encodeJpeg({ width, height, rgba }: Picture): Buffer {
  return encode({ width, height, data: rgba }, QUALITY).data;
}
