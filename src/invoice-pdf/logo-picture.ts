/** A smaller picture shows nothing at the size at which it can be printed. */
const SIDE_MIN = 16;
const SIDE_MAX = 8_000;
/** More would take seconds and hundreds of megabytes to decode, from a file of a few kilobytes. */
const PIXELS_MAX = 16_000_000;

/** @throws Error for a picture that is too small or too large for a logo; `width` and `height` are in pixels. */
export function refuseBadSize({ width, height }: { width: number; height: number }): void {
  const size = `it is ${width} by ${height} pixels`;
  if (width < SIDE_MIN || height < SIDE_MIN) {
    throw new Error(`${size}, and a logo has at least ${SIDE_MIN} by ${SIDE_MIN}`);
  }
  if (width * height > PIXELS_MAX) throw new Error(`${size}, and a logo has at most ${PIXELS_MAX} in all`);
  if (width > SIDE_MAX || height > SIDE_MAX) {
    throw new Error(`${size}, and a logo has at most ${SIDE_MAX} on each side`);
  }
}

/** How a picture's rows and columns stand, from 1 to 8; 1 is upright (CIPA DC-008, 4.6.4, tag 274). */
export type Orientation = number;

export const UPRIGHT: Orientation = 1;

const ORIENTATION = 274;
const ENTRY_LENGTH = 12;

/** Finds the orientation in EXIF data, which begin as a TIFF file does. A picture without a readable one is upright. */
export function orientationIn(exif: Buffer): Orientation {
  const isLittleEndian = exif.toString('latin1', 0, 2) === 'II';
  const bytesAt = (offset: number, count: number) => {
    const bytes = [...exif.subarray(offset, offset + count)];
    return (isLittleEndian ? bytes.reverse() : bytes).reduce((value, byte) => value * 256 + byte, 0);
  };
  const directory = bytesAt(4, 4);
  const end = Math.min(exif.length, directory + 2 + bytesAt(directory, 2) * ENTRY_LENGTH);
  for (let entry = directory + 2; entry + ENTRY_LENGTH <= end; entry += ENTRY_LENGTH) {
    if (bytesAt(entry, 2) !== ORIENTATION) continue;
    const orientation = bytesAt(entry + 8, 2);
    return orientation >= 1 && orientation <= 8 ? orientation : UPRIGHT;
  }
  return UPRIGHT;
}

/** A picture as its file holds it. */
export interface Decoded {
  width: number;
  height: number;
  orientation: Orientation;
  /** Puts the red, green and blue of a pixel, from 0 to 255 and laid on white, into an array. */
  colourAt: (x: number, y: number, into: [number, number, number]) => void;
}

/** A picture that stands upright, with three bytes for each pixel. */
export interface Picture {
  width: number;
  height: number;
  rgb: Buffer;
}

/** Enough for 300 dots to the inch at the size in which documents show a logo. */
const SIZE_MAX = { width: 1200, height: 400 };

/** By how much a picture is to be shrunk; 1 for one that isn't much larger than documents can show it. */
export function shrinkFactor(width: number, height: number): number {
  return Math.max(1, Math.floor(Math.max(width / SIZE_MAX.width, height / SIZE_MAX.height)));
}

/**
 * Turns a picture upright, and makes it not much larger than documents can show it: each pixel is the mean of a square.
 * @throws Error for one that can't be seen on white paper.
 */
export function uprightPicture({ orientation, colourAt, ...stored }: Decoded): Picture {
  // From 5 on, columns and rows are swapped.
  const isTurned = orientation > 4;
  const [fullWidth, fullHeight] = isTurned ? [stored.height, stored.width] : [stored.width, stored.height];
  const factor = shrinkFactor(fullWidth, fullHeight);
  const width = Math.max(1, Math.floor(fullWidth / factor));
  const height = Math.max(1, Math.floor(fullHeight / factor));
  const [isFlippedX, isFlippedY] = [
    [2, 3, 6, 7],
    [3, 4, 7, 8],
  ].map((flipped) => flipped.includes(orientation));
  const rgb = Buffer.alloc(width * height * 3);
  const pixel: [number, number, number] = [0, 0, 0];
  const square = { x: Math.min(factor, fullWidth), y: Math.min(factor, fullHeight) };
  const count = square.x * square.y;
  for (let index = 0; index < width * height; index++) {
    const left = (index % width) * factor;
    const top = Math.floor(index / width) * factor;
    let [red, green, blue] = [0, 0, 0];
    for (let part = 0; part < count; part++) {
      const x = left + (part % square.x);
      const y = top + Math.floor(part / square.x);
      const [across, down] = [isFlippedX ? fullWidth - 1 - x : x, isFlippedY ? fullHeight - 1 - y : y];
      colourAt(isTurned ? down : across, isTurned ? across : down, pixel);
      red += pixel[0];
      green += pixel[1];
      blue += pixel[2];
    }
    rgb[index * 3] = Math.round(red / count);
    rgb[index * 3 + 1] = Math.round(green / count);
    rgb[index * 3 + 2] = Math.round(blue / count);
  }
  refuseInvisible(rgb);
  return { width, height, rgb };
}

/** A lighter colour can hardly be told from white. */
const LIGHTEST = 240;
/** Fewer pixels are noise. */
const VISIBLE_SHARE_MIN = 1 / 2_000;

function refuseInvisible(rgb: Buffer): void {
  let visible = 0;
  for (let at = 0; at < rgb.length; at += 3) {
    if (Math.min(rgb[at] ?? 0, rgb[at + 1] ?? 0, rgb[at + 2] ?? 0) < LIGHTEST) visible += 3;
  }
  if (visible > rgb.length * VISIBLE_SHARE_MIN) return;
  throw new Error(
    'nothing of it can be seen on white paper; give the one that is made for a light background',
  );
}
