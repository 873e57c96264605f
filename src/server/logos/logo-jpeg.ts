import { decode, encode } from 'jpeg-js';
import { orientationIn, type Picture, refuseBadSize, type StoredPicture, UPRIGHT } from './logo-picture.ts';

/** Markers of supported frames: baseline, extended and progressive, with Huffman coding. */
const SUPPORTED_FRAMES = [0xc0, 0xc1, 0xc2];
/** Markers of unsupported frames: lossless, hierarchical, and with arithmetic coding. */
const OTHER_FRAMES = [0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf];
const SCAN = 0xda;
const END = 0xd9;
const APP1 = 0xe1;
const EXIF = 'Exif\0\0';
/** The memory limit for decoding; the largest picture needs some 400 MB. */
const DECODING_MB_MAX = 512;
/** The most pixels decoded over all scans; 16,000,000 pixels in a dozen progressive scans take three seconds. */
const SCANNED_PIXELS_MAX = 250_000_000;
const DAMAGED = 'the JPEG picture is damaged';

interface Segment {
  marker: number;
  content: Buffer;
  /** The whole segment, including the coded data that follows a scan header. */
  raw: Buffer;
}

const [TABLES, HUFFMAN, RESTART] = [0xdb, 0xc4, 0xdd];
/** Markers of the JFIF segment and of the colour coding. */
const [APP0, APP14] = [0xe0, 0xee];
/** Markers of the segments that a decoder needs. */
const DECODED = [APP0, APP14, TABLES, HUFFMAN, RESTART, SCAN, ...SUPPORTED_FRAMES];
const [BEGIN_BYTES, END_BYTES] = [Buffer.from([0xff, 0xd8]), Buffer.from([0xff, END])];

/** Returns the length that a segment's content declares (B.2.2 to B.2.4); undefined where any length is valid. */
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

/** @throws Error for a segment whose declared length differs, because a decoder would then read different segments. */
function refuseOtherLength(marker: number, content: Buffer): void {
  if ((bytesNeeded(marker, content) ?? content.length) !== content.length) throw new Error(DAMAGED);
}

/** Returns the marker segments of a JPEG picture (ITU-T T.81, B.1.1). */
function segmentsOf(bytes: Buffer): Segment[] {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) throw new Error('it is not a JPEG picture');
  const segments: Segment[] = [];
  let offset = 2;
  while (offset + 4 <= bytes.length) {
    const marker = bytes[offset + 1] ?? 0;
    if (bytes[offset] !== 0xff) throw new Error(DAMAGED);
    if (marker === END) break;
    // Any number of fill bytes can precede a marker.
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

/** Returns the offset of the next marker that is neither a stuffed byte nor a restart marker. */
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
 * @throws Error for a picture that is damaged, cut short or too large, or has too many scans for its size.
 */
export function decodeJpeg(bytes: Buffer): StoredPicture {
  const segments = segmentsOf(bytes);
  const { width, height } = frameOf(segments);
  const scanned = segments.filter(({ marker }) => marker === SCAN);
  // Each scan makes one pass for each component that it names.
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

/** Returns the size of a picture in pixels, from its single frame (B.2.2). */
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

/** Returns, without decoding, the size of a JPEG in the form this service writes; undefined for any other JPEG. */
export function plainJpegSize(bytes: Buffer): { width: number; height: number } | undefined {
  const segments = segmentsOf(bytes);
  return segments.map(({ marker }) => marker).join() === PLAIN ? frameOf(segments) : undefined;
}

/** The JPEG quality; it is good enough for print and takes half the bytes of quality 92. */
const QUALITY = 80;

/** Writes a picture as a plain JPEG. */
export function encodeJpeg({ width, height, rgba }: Picture): Buffer {
  return encode({ width, height, data: rgba }, QUALITY).data;
}
