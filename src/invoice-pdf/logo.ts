import { deflateSync } from 'node:zlib';
import { jpegPicture } from './logo-jpeg.ts';
import { decodePng } from './logo-png.ts';

/** A logo as the documents embed it. */
export interface Logo {
  width: number;
  height: number;
  colorSpace: 'DeviceRGB' | 'DeviceGray';
  filter: 'FlateDecode' | 'DCTDecode';
  data: Buffer;
}

/**
 * Reads a logo from its `data:` URL. A PNG of any kind becomes plain RGB on white, so that no document needs
 * transparency; a JPEG is embedded as it is.
 * @throws Error that says what is wrong with the picture.
 */
export function readLogo(dataUrl: string): Logo {
  const [, type, base64 = ''] = /^data:image\/(png|jpeg);base64,(.*)$/s.exec(dataUrl) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  if (type === undefined) throw new Error('it is neither a PNG nor a JPEG picture');
  if (type === 'jpeg') return { ...jpegPicture(bytes), filter: 'DCTDecode', data: bytes };
  const { width, height, rgb } = decodePng(bytes);
  return { width, height, colorSpace: 'DeviceRGB', filter: 'FlateDecode', data: deflateSync(rgb) };
}

/** What is wrong with a logo, for which documents leave it out; undefined when they show it. */
export function logoProblem(dataUrl: string): string | undefined {
  try {
    readLogo(dataUrl);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
