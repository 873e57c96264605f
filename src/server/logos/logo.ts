import { decodeJpeg, encodeJpeg, plainJpegSize } from './logo-jpeg.ts';
import { shrinkFactor, uprightPicture } from './logo-picture.ts';
import { decodePng, encodePng } from './logo-png.ts';

/** A logo as documents embed it: a plain PNG or JPEG, upright and without transparency. */
export interface Logo {
  width: number;
  height: number;
  file: Buffer;
}

/** The data URL of a larger file would be too long to store. */
const FILE_BYTES_MAX = 750_000;

/**
 * Makes of a picture's file the `data:` URL that is kept as the company's logo: decoded, laid on white and written anew,
 * so that documents and their readers never decode what somebody else has written.
 * @throws Error that says what is wrong with the picture.
 */
export function logoFromFile(bytes: Buffer): string {
  if (bytes.length > FILE_BYTES_MAX) {
    throw new Error(`it has ${bytes.length} bytes, and a logo has at most ${FILE_BYTES_MAX}`);
  }
  const { file } = logoOf(bytes);
  return `data:image/${isJpeg(file) ? 'jpeg' : 'png'};base64,${file.toString('base64')}`;
}

/**
 * The same from a picture's `data:` URL.
 * @throws Error that says what is wrong with it.
 */
export function logoFromDataUrl(dataUrl: string): string {
  const [, base64] = /^data:image\/(?:png|jpeg);base64,([A-Za-z0-9+/]+=*)$/.exec(dataUrl) ?? [];
  if (base64 === undefined) throw new Error('it is not a PNG or JPEG picture as a data: URL');
  return logoFromFile(Buffer.from(base64, 'base64'));
}

/**
 * Reads a logo from its `data:` URL to embed it. One that an earlier version kept as it came is decoded within the same
 * bounds as a new one.
 * @throws Error that says what is wrong with the picture.
 */
export function readLogo(dataUrl: string): Logo {
  const [, base64 = ''] = /^data:image\/(?:png|jpeg);base64,(.*)$/s.exec(dataUrl) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  const size = isJpeg(bytes) ? plainJpegSize(bytes) : undefined;
  const isPlain = size && shrinkFactor(size.width, size.height) === 1;
  return isPlain ? { ...size, file: bytes } : logoOf(bytes);
}

/** Stores photographs as JPEG, which is much smaller than PNG. */
const PNG_BYTES_MAX = 400_000;

function logoOf(bytes: Buffer): Logo {
  const picture = uprightPicture(isJpeg(bytes) ? decodeJpeg(bytes) : decodePng(bytes));
  const { width, height } = picture;
  const png = encodePng(picture);
  return { width, height, file: png.length <= PNG_BYTES_MAX ? png : encodeJpeg(picture) };
}

function isJpeg(bytes: Buffer): boolean {
  return bytes.length > 2 && bytes.readUIntBE(0, 3) === 0xffd8ff;
}
