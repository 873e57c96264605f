import { Transformer } from '@napi-rs/image';

/** The largest logo file, in bytes; the data URL of a larger one would be too long to store. */
const FILE_BYTES_MAX = 750_000;

/** The shortest side in pixels; smaller pictures are unrecognisable in print. */
const SIDE_MIN = 16;
const SIDE_MAX = 8_000;
/** The most pixels; larger pictures take seconds and hundreds of megabytes to decode, even from a small file. */
const PIXELS_MAX = 16_000_000;

/** The size in pixels that gives 300 dots per inch where documents show a logo. */
const SIZE_MAX = { width: 1200, height: 400 };
/** The largest PNG, in bytes; a larger picture is probably a photograph and is stored as JPEG, which is much smaller. */
const PNG_BYTES_MAX = 400_000;
/** The JPEG quality; it is good enough for print and takes half the bytes of quality 92. */
const QUALITY = 80;

/**
 * Converts a picture file to the `data:` URL stored as the company's logo. The picture is decoded, turned upright, put
 * on white, shrunk to what documents show and encoded again, so that they and their readers never decode untrusted files.
 * @throws Error describing the problem with the picture.
 */
export function logoFromFile(bytes: Buffer): string {
  if (bytes.length > FILE_BYTES_MAX) {
    throw new Error(`it has ${bytes.length} bytes, and a logo has at most ${FILE_BYTES_MAX}`);
  }
  const type = typeOf(bytes);
  const picture = onWhite(type, bytes);
  const png = picture.pngSync();
  return png.length <= PNG_BYTES_MAX ? dataUrl('png', png) : dataUrl('jpeg', picture.jpegSync(QUALITY));
}

/**
 * Converts a picture's `data:` URL to the one stored as the company's logo, like `logoFromFile`.
 * @throws Error describing the problem with the URL or picture.
 */
export function logoFromDataUrl(url: string): string {
  const [, base64] = /^data:image\/(?:png|jpeg);base64,([A-Za-z0-9+/]+=*)$/.exec(url) ?? [];
  if (base64 === undefined) throw new Error('it is not a PNG or JPEG picture as a data: URL');
  return logoFromFile(Buffer.from(base64, 'base64'));
}

/** Returns the file of a stored logo. */
export function logoFile(url: string): Buffer {
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
}

type PictureType = 'PNG' | 'JPEG';

function typeOf(bytes: Buffer): PictureType {
  if (bytes.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n') return 'PNG';
  if (bytes.toString('latin1', 0, 3) === '\xff\xd8\xff') return 'JPEG';
  throw new Error('it is neither a PNG nor a JPEG picture');
}

function dataUrl(type: 'png' | 'jpeg', bytes: Buffer): string {
  return `data:image/${type};base64,${bytes.toString('base64')}`;
}

/** Decodes a picture whose header states a bearable size, and puts it on white. */
function onWhite(type: PictureType, bytes: Buffer): Transformer {
  const damaged = `the ${type} picture is damaged or cut short`;
  refuseBadSize(orThrow(damaged, () => (type === 'PNG' ? pngSize(bytes) : jpegSize(bytes))));
  const original = new Transformer(bytes);
  const stored = orThrow(damaged, () => original.metadataSync(true));
  // From 5 on, an EXIF orientation swaps columns and rows (CIPA DC-008, 4.6.4, tag 274).
  const isTurned = (stored.orientation ?? 1) > 4;
  const [width, height] = isTurned ? [stored.height, stored.width] : [stored.width, stored.height];
  const scale = Math.min(SIZE_MAX.width / width, SIZE_MAX.height / height, 1);
  const size = [width, height].map((side) => Math.max(1, Math.round(side * scale))) as [number, number];
  const shown = orThrow(damaged, () =>
    original
      .rotate()
      .resize(...size)
      .pngSync(),
  );
  const white = Buffer.alloc(size[0] * size[1] * 4, 255);
  const pixels = Transformer.fromRgbaPixels(white, ...size)
    .overlay(shown, 0, 0)
    .rawPixelsSync();
  refuseInvisible(pixels);
  return Transformer.fromRgbaPixels(pixels, ...size);
}

function orThrow<T>(message: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new Error(message, { cause: error });
  }
}

/** Returns the size that the first chunk of a PNG states (PNG, third edition, 11.2.1). */
function pngSize(bytes: Buffer): Size {
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Returns the size that the frame of a JPEG states, which follows any number of other segments (T.81, B.2.2). */
function jpegSize(bytes: Buffer): Size {
  let at = 2;
  while (!FRAMES.includes(bytes.readUInt16BE(at))) at += 2 + bytes.readUInt16BE(at + 2);
  return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
}

interface Size {
  width: number;
  height: number;
}

/** JPEG markers of a frame's start, with Huffman coding: baseline, extended and progressive. */
const FRAMES = [0xffc0, 0xffc1, 0xffc2];

function refuseBadSize({ width, height }: Size): void {
  const size = `it is ${width} by ${height} pixels`;
  if (width < SIDE_MIN || height < SIDE_MIN) {
    throw new Error(`${size}, and a logo has at least ${SIDE_MIN} by ${SIDE_MIN}`);
  }
  if (width * height > PIXELS_MAX) throw new Error(`${size}, and a logo has at most ${PIXELS_MAX} in all`);
  if (width > SIDE_MAX || height > SIDE_MAX) {
    throw new Error(`${size}, and a logo has at most ${SIDE_MAX} on each side`);
  }
}

/** The lightest visible colour value; lighter ones look white. */
const LIGHTEST = 240;
/** The smallest share of visible pixels; fewer are noise. */
const VISIBLE_SHARE_MIN = 1 / 2_000;

function refuseInvisible(rgba: Buffer): void {
  let visible = 0;
  for (let at = 0; at < rgba.length; at += 4) {
    if (Math.min(...rgba.subarray(at, at + 3)) < LIGHTEST) visible += 4;
  }
  if (visible > rgba.length * VISIBLE_SHARE_MIN) return;
  throw new Error(
    'nothing of it can be seen on white paper; give the one that is made for a light background',
  );
}
