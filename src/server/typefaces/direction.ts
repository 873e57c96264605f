import { createRequire } from 'node:module';
import type { Bidi } from 'bidi-js';

/** Loaded with the first text that is written from right to left. */
const load = createRequire(import.meta.url);

/** The blocks of scripts that are written from right to left. */
export const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The levels of a text by Unicode's bidirectional algorithm (UAX 9): letters of an odd one go from right to left. */
export interface Direction {
  levels: Uint8Array;
  /** The level of the whole paragraph, which its first letter decides. */
  base: number;
}

let shared: Bidi | undefined;

function bidi(): Bidi {
  return (shared ??= (load('bidi-js') as () => Bidi)());
}

/** The directions of a paragraph; undefined where all of it is written from left to right. */
export function directionOf(paragraph: string): Direction | undefined {
  if (!RIGHT_TO_LEFT.test(paragraph)) return undefined;
  const { levels, paragraphs } = bidi().getEmbeddingLevels(paragraph);
  return { levels, base: paragraphs[0]?.level ?? 0 };
}

/** The directions of a line within its paragraph. Spaces at its end are the paragraph's (UAX 9, L1). */
export function directionOfLine({ levels, base }: Direction, from: number, line: string): Direction {
  const own = new Uint8Array(line.length).fill(base);
  own.set(levels.subarray(from, from + line.trimEnd().length));
  return { levels: own, base };
}

/** For each place from left to right the character of a line that is seen there (UAX 9, L2). */
export function visualOrder(line: string, { levels, base }: Direction): number[] {
  const paragraphs = [{ start: 0, end: line.length - 1, level: base }];
  return bidi().getReorderedIndices(line, { levels, paragraphs });
}

/** Brackets and the like as they look from right to left (UAX 9, L4). Twice gives the text again. */
export function mirrored(text: string): string {
  return text.replace(/[\p{Ps}\p{Pe}\p{Pi}\p{Pf}<>]/gu, (sign) => bidi().getMirroredCharacter(sign) ?? sign);
}
