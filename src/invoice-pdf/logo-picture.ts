/** A smaller picture shows nothing at the size at which it can be printed. */
const SIDE_MIN = 16;
/** More would take seconds and hundreds of megabytes to decode, from a file of a few kilobytes. */
const PIXELS_MAX = 16_000_000;

/** @throws Error for a picture that is too small or too large for a logo; `width` and `height` are in pixels. */
export function refuseBadSize({ width, height }: { width: number; height: number }): void {
  const size = `it is ${width} by ${height} pixels`;
  if (width < SIDE_MIN || height < SIDE_MIN) {
    throw new Error(`${size}, and a logo has at least ${SIDE_MIN} by ${SIDE_MIN}`);
  }
  if (width * height > PIXELS_MAX) throw new Error(`${size}, and a logo has at most ${PIXELS_MAX} in all`);
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
