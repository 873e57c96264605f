import { createRequire } from 'node:module';
import type { Bidi } from 'bidi-js';

/** Loads the bidi library, only when the first right-to-left text needs it. */
const load = createRequire(import.meta.url);

/** Matches a character of a right-to-left script. */
export const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The levels of a text by Unicode's bidirectional algorithm (UAX 9); letters with odd levels run from right to left. */
export interface Direction {
  levels: Uint8Array;
  /** The level of the whole paragraph, determined by its first letter. */
  base: number;
}

let shared: Bidi | undefined;

function bidi(): Bidi {
  return (shared ??= (load('bidi-js') as () => Bidi)());
}

/** Returns the directions of a paragraph; undefined where it is entirely left-to-right. */
export function directionOf(paragraph: string): Direction | undefined {
  if (!RIGHT_TO_LEFT.test(paragraph)) return undefined;
  const { levels, paragraphs } = bidi().getEmbeddingLevels(paragraph);
  return { levels, base: paragraphs[0]?.level ?? 0 };
}

/** Returns the directions of a line within its paragraph. Trailing spaces have the paragraph's level (UAX 9, L1). */
export function directionOfLine({ levels, base }: Direction, from: number, line: string): Direction {
  const own = new Uint8Array(line.length).fill(base);
  own.set(levels.subarray(from, from + line.trimEnd().length));
  return { levels: own, base };
}

/** Returns the indices of a line's characters in visual order, from left to right (UAX 9, L2). */
export function visualOrder(line: string, { levels, base }: Direction): number[] {
  const paragraphs = [{ start: 0, end: line.length - 1, level: base }];
  return bidi().getReorderedIndices(line, { levels, paragraphs });
}

/** Mirrors brackets and similar characters for right-to-left text (UAX 9, L4). Applying it twice restores the text. */
export function mirrored(text: string): string {
  return text.replace(/[\p{Ps}\p{Pe}\p{Pi}\p{Pf}<>]/gu, (sign) => bidi().getMirroredCharacter(sign) ?? sign);
}
