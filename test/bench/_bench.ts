/** The findings of a bench: for a reader, and as figures that a later run can be compared with. */
export interface Findings {
  text: string;
  figures: unknown;
}

/** A bench by itself: it starts what it compares, and leaves nothing behind. */
export interface Bench {
  /** Its subject, in a line. */
  about: string;
  run: () => Promise<Findings>;
}
