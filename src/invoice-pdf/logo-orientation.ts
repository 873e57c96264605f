/** How a picture's rows and columns stand, from 1 to 8; 1 is upright (CIPA DC-008, 4.6.4, tag 274). */
export type Orientation = number;

export const UPRIGHT: Orientation = 1;

const ORIENTATION = 274;
const ENTRY_LENGTH = 12;

/** Finds the orientation in EXIF data, which begin as a TIFF file does. What says none, or can't be read, is upright. */
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
