/** A time in milliseconds by a clock that nobody sets, and that all processes of a machine share. */
export function steadyMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
