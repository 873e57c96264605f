import { decode } from 'fast-png';
import type { DecodedPng } from 'fast-png';
import { type Orientation, orientationIn, refuseBadSize, UPRIGHT } from './logo-picture.ts';

/** Enough for 300 dots to the inch at the size in which documents show a logo. */
const SIZE_MAX = { width: 1200, height: 400 };
const WHITE = 255;

/** A picture with three bytes for each pixel. */
interface Picture {
  width: number;
  height: number;
  rgb: Buffer;
  orientation: Orientation;
}

/**
 * Decodes a PNG of any colour type and depth, laid on white, and not much larger than documents can show it.
 * @throws Error when it isn't one, or is damaged or too large.
 */
export function decodePng(bytes: Buffer): Picture {
  // The header is the first chunk (RFC 2083, 3.2), and tells the size before anything is decoded.
  if (bytes.length < 33) throw new Error('it is not a PNG picture');
  refuseBadSize({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) });
  const png = decodeOrRefuse(bytes);
  const factor = Math.max(1, Math.floor(Math.max(png.width / SIZE_MAX.width, png.height / SIZE_MAX.height)));
  return { ...shrink(png, factor), orientation: orientationOf(bytes) };
}

/** Its orientation, from its chunk of EXIF data (PNG, third edition, 11.3.4.5). */
function orientationOf(bytes: Buffer): Orientation {
  let offset = 8;
  while (offset + 12 <= bytes.length) {
    const length = bytes.readUInt32BE(offset);
    const content = bytes.subarray(offset + 8, offset + 8 + length);
    if (bytes.toString('latin1', offset + 4, offset + 8) === 'eXIf') return orientationIn(content);
    offset += 12 + length;
  }
  return UPRIGHT;
}

function decodeOrRefuse(bytes: Buffer): DecodedPng {
  try {
    return decode(bytes);
  } catch (error) {
    throw new Error('the PNG picture is damaged', { cause: error });
  }
}

/** Makes one pixel of each square of `factor` by `factor`. */
function shrink(png: DecodedPng, factor: number): Omit<Picture, 'orientation'> {
  const width = Math.max(1, Math.floor(png.width / factor));
  const height = Math.max(1, Math.floor(png.height / factor));
  const colourAt = colourReader(png);
  const rgb = Buffer.alloc(width * height * 3);
  const pixel: [number, number, number] = [0, 0, 0];
  const count = factor * factor;
  for (let index = 0; index < width * height; index++) {
    const left = (index % width) * factor;
    const top = Math.floor(index / width) * factor;
    let [red, green, blue] = [0, 0, 0];
    for (let part = 0; part < count; part++) {
      colourAt(left + (part % factor), top + Math.floor(part / factor), pixel);
      red += pixel[0];
      green += pixel[1];
      blue += pixel[2];
    }
    rgb[index * 3] = Math.round(red / count);
    rgb[index * 3 + 1] = Math.round(green / count);
    rgb[index * 3 + 2] = Math.round(blue / count);
  }
  return { width, height, rgb };
}

type ColourReader = (x: number, y: number, into: [number, number, number]) => void;

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
