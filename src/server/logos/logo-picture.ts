/** The shortest side in pixels; smaller pictures are unrecognisable in print. */
const SIDE_MIN = 16;
const SIDE_MAX = 8_000;
/** The most pixels; larger pictures take seconds and hundreds of megabytes to decode, even from a small file. */
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

/** The EXIF orientation of a picture, from 1 to 8; 1 is upright (CIPA DC-008, 4.6.4, tag 274). */
export type Orientation = number;

export const UPRIGHT: Orientation = 1;

const ORIENTATION = 274;
const ENTRY_LENGTH = 12;

/** Returns the orientation in EXIF data, which has a TIFF header; upright where none can be read. */
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

/** A picture with one byte each for the red, green, blue and opacity of every pixel. */
export interface Picture {
  width: number;
  height: number;
  rgba: Buffer;
}

/** A picture as its file stores it, before it is turned upright. */
export interface StoredPicture extends Picture {
  orientation: Orientation;
}

/** The size in pixels that gives 300 dots per inch where documents show a logo. */
const SIZE_MAX = { width: 1200, height: 400 };

/** Returns the factor by which a picture is shrunk; 1 if it isn't much larger than needed. */
export function shrinkFactor(width: number, height: number): number {
  return Math.max(1, Math.floor(Math.max(width / SIZE_MAX.width, height / SIZE_MAX.height)));
}

/**
 * Turns a picture upright, puts it on white, and shrinks it to about the size that documents show: each pixel is the
 * mean of a square.
 * @throws Error for a picture that is invisible on white paper.
 */
export function uprightPicture({ orientation, rgba: stored, ...size }: StoredPicture): Picture {
  // From 5 on, columns and rows are swapped.
  const isTurned = orientation > 4;
  const [fullWidth, fullHeight] = isTurned ? [size.height, size.width] : [size.width, size.height];
  const factor = shrinkFactor(fullWidth, fullHeight);
  const [squareX, squareY] = [Math.min(factor, fullWidth), Math.min(factor, fullHeight)];
  const [width, height] = [Math.floor(fullWidth / squareX), Math.floor(fullHeight / squareY)];
  const isFlippedX = [2, 3, 6, 7].includes(orientation);
  const isFlippedY = [3, 4, 7, 8].includes(orientation);
  const rgba = Buffer.alloc(width * height * 4, WHITE);
  for (let index = 0; index < width * height; index++) {
    const left = (index % width) * squareX;
    const top = Math.floor(index / width) * squareY;
    let [red, green, blue] = [0, 0, 0];
    for (let part = 0; part < squareX * squareY; part++) {
      const x = left + (part % squareX);
      const y = top + Math.floor(part / squareX);
      const [across, down] = [isFlippedX ? fullWidth - 1 - x : x, isFlippedY ? fullHeight - 1 - y : y];
      const at = 4 * (isTurned ? across * size.width + down : down * size.width + across);
      const opacity = (stored[at + 3] ?? 0) / WHITE;
      red += (WHITE - (stored[at] ?? 0)) * opacity;
      green += (WHITE - (stored[at + 1] ?? 0)) * opacity;
      blue += (WHITE - (stored[at + 2] ?? 0)) * opacity;
    }
    const darkness = [red, green, blue].map((sum) => sum / (squareX * squareY));
    rgba.set(
      darkness.map((dark) => Math.round(WHITE - dark)),
      index * 4,
    );
  }
  refuseInvisible(rgba);
  return { width, height, rgba };
}

const WHITE = 255;
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
