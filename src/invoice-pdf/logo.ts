import { deflateSync } from 'node:zlib';
import { decodeJpeg, jpegPicture } from './logo-jpeg.ts';
import type { Orientation } from './logo-picture.ts';
import { decodePng } from './logo-png.ts';

/** A logo as the documents embed it. */
export interface Logo {
  width: number;
  height: number;
  colorSpace: 'DeviceRGB' | 'DeviceGray';
  filter: 'FlateDecode' | 'DCTDecode';
  data: Buffer;
  /** How it has to be turned to stand upright. */
  orientation: Orientation;
}

/**
 * Reads a logo from its `data:` URL. A PNG of any kind becomes plain RGB on white, so that no document needs
 * transparency; a JPEG is embedded as it is.
 * @throws Error that says what is wrong with the picture.
 */
export function readLogo(dataUrl: string): Logo {
  const { type, bytes } = partsOf(dataUrl);
  if (type === 'jpeg') return { ...jpegPicture(bytes), filter: 'DCTDecode', data: bytes };
  const { rgb, ...picture } = decodePng(bytes);
  return { ...picture, colorSpace: 'DeviceRGB', filter: 'FlateDecode', data: deflateSync(rgb) };
}

/**
 * Says what is wrong with a new logo; undefined when documents can show it. A JPEG is decoded here, and not for each
 * document: only decoding shows that it isn't cut short.
 */
export function logoProblem(dataUrl: string): string | undefined {
  try {
    readLogo(dataUrl);
    const { type, bytes } = partsOf(dataUrl);
    if (type === 'jpeg') decodeJpeg(bytes);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function partsOf(dataUrl: string): { type: 'png' | 'jpeg'; bytes: Buffer } {
  const [, type, base64 = ''] = /^data:image\/(png|jpeg);base64,(.*)$/s.exec(dataUrl) ?? [];
  if (type !== 'png' && type !== 'jpeg') throw new Error('it is neither a PNG nor a JPEG picture');
  return { type, bytes: Buffer.from(base64, 'base64') };
}
