import { decode } from 'jpeg-js';
import type { Logo } from './logo.ts';
import { type Orientation, orientationIn, refuseBadSize, UPRIGHT } from './logo-picture.ts';

/** Baseline, extended and progressive, with Huffman coding: what PDF readers decode. */
const SUPPORTED_FRAMES = [0xc0, 0xc1, 0xc2];
/** The other frames: lossless, hierarchical, and with arithmetic coding. */
const OTHER_FRAMES = [0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf];
const SCAN = 0xda;
const END = 0xd9;
const APP1 = 0xe1;
const EXIF = 'Exif\0\0';
/** A picture of the largest size takes some 400 MB. */
const DECODING_MB_MAX = 512;

type Picture = Pick<Logo, 'width' | 'height' | 'colorSpace' | 'orientation'>;

/**
 * Finds the size and the colours of a JPEG picture in its frame (ITU-T T.81, B.2.2), and its orientation.
 * @throws Error for one that documents can't embed, such as CMYK, which PDF/A ties to a print condition.
 */
export function jpegPicture(bytes: Buffer): Picture {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) throw new Error('it is not a JPEG picture');
  let offset = 2;
  let orientation = UPRIGHT;
  while (offset + 9 < bytes.length) {
    if (bytes[offset] !== 0xff) throw new Error('the JPEG picture is damaged');
    const marker = bytes[offset + 1] ?? 0;
    if (marker === SCAN || marker === END) break;
    if (SUPPORTED_FRAMES.includes(marker)) return { ...frameOf(bytes, offset), orientation };
    if (OTHER_FRAMES.includes(marker)) throw new Error('the JPEG picture has a coding that few readers know');
    orientation = orientationAt(bytes, offset, marker) ?? orientation;
    // A marker may be preceded by any number of fill bytes.
    offset += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(offset + 2);
  }
  throw new Error('the JPEG picture is damaged');
}

/** The orientation, if the segment at `offset` states it. */
function orientationAt(bytes: Buffer, offset: number, marker: number): Orientation | undefined {
  const start = offset + 10;
  if (marker !== APP1 || bytes.toString('latin1', offset + 4, start) !== EXIF) return undefined;
  return orientationIn(bytes.subarray(start, offset + 2 + bytes.readUInt16BE(offset + 2)));
}

function frameOf(bytes: Buffer, offset: number): Omit<Picture, 'orientation'> {
  const bits = bytes[offset + 4];
  const height = bytes.readUInt16BE(offset + 5);
  const width = bytes.readUInt16BE(offset + 7);
  const colours = bytes[offset + 9];
  if (bits !== 8) throw new Error('the JPEG picture has more than 8 bits for each colour');
  refuseBadSize({ width, height });
  if (colours !== 1 && colours !== 3) throw new Error('the JPEG picture is in CMYK; save it in RGB');
  // A truncated file would show as half a picture, or stop a reader.
  if (bytes.lastIndexOf(Buffer.from([0xff, END])) < offset) throw new Error('the JPEG picture is cut short');
  return { width, height, colorSpace: colours === 1 ? 'DeviceGray' : 'DeviceRGB' };
}

/**
 * Decodes a JPEG picture to see that all of it is there; documents embed it as it is.
 * @throws Error when it isn't.
 */
export function decodeJpeg(bytes: Buffer): void {
  try {
    decode(bytes, { tolerantDecoding: false, formatAsRGBA: false, maxMemoryUsageInMB: DECODING_MB_MAX });
  } catch (error) {
    throw new Error('the JPEG picture is damaged or cut short', { cause: error });
  }
}
