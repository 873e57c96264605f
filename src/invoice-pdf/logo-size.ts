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
