import { decodeJpeg, encodeJpeg, plainJpegSize } from './logo-jpeg.ts';
import { shrinkFactor, uprightPicture } from './logo-picture.ts';
import { decodePng, encodePng } from './logo-png.ts';

/** A logo as documents embed it: a plain PNG or JPEG, upright and without transparency. */
export interface Logo {
  width: number;
  height: number;
  file: Buffer;
}

/** The largest logo file, in bytes; the data URL of a larger one would be too long to store. */
const FILE_BYTES_MAX = 750_000;

/**
 * Converts a picture file to the `data:` URL stored as the company's logo. The picture is decoded, put on white and
 * re-encoded, so that documents and their readers never decode untrusted files.
 * @throws Error describing the problem with the picture.
 */
export function logoFromFile(bytes: Buffer): string {
  if (bytes.length > FILE_BYTES_MAX) {
    throw new Error(`it has ${bytes.length} bytes, and a logo has at most ${FILE_BYTES_MAX}`);
  }
  const { file } = logoOf(bytes);
  return `data:image/${isJpeg(file) ? 'jpeg' : 'png'};base64,${file.toString('base64')}`;
}

/**
 * Converts a picture's `data:` URL to the one stored as the company's logo, like `logoFromFile`.
 * @throws Error describing the problem with the URL or picture.
 */
export function logoFromDataUrl(dataUrl: string): string {
  const [, base64] = /^data:image\/(?:png|jpeg);base64,([A-Za-z0-9+/]+=*)$/.exec(dataUrl) ?? [];
  if (base64 === undefined) throw new Error('it is not a PNG or JPEG picture as a data: URL');
  return logoFromFile(Buffer.from(base64, 'base64'));
}

/**
 * Reads a stored logo from its `data:` URL for embedding. A logo that an earlier version stored unchanged is decoded
 * within the same bounds as a new one.
 * @throws Error describing the problem with the picture.
 */
export function readLogo(dataUrl: string): Logo {
  const [, base64 = ''] = /^data:image\/(?:png|jpeg);base64,(.*)$/s.exec(dataUrl) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  const size = isJpeg(bytes) ? plainJpegSize(bytes) : undefined;
  const isPlain = size && shrinkFactor(size.width, size.height) === 1;
  return isPlain ? { ...size, file: bytes } : logoOf(bytes);
}

/** The largest PNG, in bytes; a larger picture is probably a photograph and is stored as JPEG, which is much smaller. */
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
