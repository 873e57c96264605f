import type { Fonts, Weight } from '../typefaces/fonts.ts';
import { directionOf, directionOfLine } from '../typefaces/direction.ts';
import { clustersOf } from '../typefaces/glyphs.ts';
import { breakableParts } from '../typefaces/line-breaks.ts';
import { printable, type Run, runsOf } from '../typefaces/shaping.ts';

/** A style of text; sizes are in points. */
export interface TextStyle {
  size: number;
  weight: Weight;
  color: string;
  /** The distance from one baseline to the next. */
  leading: number;
}

export interface TextLine {
  runs: Run[];
  /** The width in points, without a trailing space. */
  width: number;
}

/** Text broken into lines, with its measures in points. */
export interface TextBlock {
  lines: TextLine[];
  style: TextStyle;
  height: number;
}

/**
 * Breaks text into lines of at most `width` points, breaking longer words too. A line keeps the space at which it was
 * broken: without it, its last word and the next one would be extracted as one. The last line has none, unless the text
 * continues in another block.
 */
export function textBlock(
  text: string,
  style: TextStyle,
  width: number,
  fonts: Fonts,
  goesOn = false,
): TextBlock {
  const measure = (piece: string) => widthOf(piece, style, fonts);
  const broken = paragraphsOf(printable(text, fonts)).flatMap((paragraph) => {
    const direction = directionOf(paragraph);
    let from = 0;
    const all = linesOf(paragraph, width, measure);
    // Right-to-left lines begin at the edge of the widest line.
    const edge = direction?.base === 1 ? Math.max(...all.map((line) => measure(line.trimEnd()))) : undefined;
    return all.map((line) => {
      const own = direction && directionOfLine(direction, from, line);
      from += line.length;
      return { line, direction: own, edge };
    });
  });
  const lines = broken.map(({ line, direction, edge }, index): TextLine => {
    const seen = line.trimEnd();
    const isEnd = index === broken.length - 1 && !goesOn;
    const runs = runsOf(isEnd ? seen : line, fonts, style.weight, direction);
    const end = edge ?? measure(seen);
    // The trailing space of a right-to-left line sticks out on its left.
    const out = edge === undefined ? 0 : edge / style.size - sumWidth(runs);
    return { runs: runs.map((run) => ({ ...run, left: run.left + out })), width: end };
  });
  return { lines, style, height: lines.length * style.leading };
}

/** Breaks text into as few lines as `textBlock`, but of similar widths, so that the last line isn't a single word. */
export function balancedBlock(text: string, style: TextStyle, width: number, fonts: Fonts): TextBlock {
  const block = textBlock(text, style, width, fonts);
  const words = printable(text, fonts).split(/[ \n]+/);
  // A block narrower than its longest word would break that word.
  let tooNarrow = Math.max(...words.map((word) => widthOf(word, style, fonts)));
  let balanced = block;
  let wideEnough = width;
  while (wideEnough - tooNarrow > 1) {
    const middle = (tooNarrow + wideEnough) / 2;
    const narrower = textBlock(text, style, middle, fonts);
    if (narrower.lines.length > block.lines.length) tooNarrow = middle;
    else [balanced, wideEnough] = [narrower, middle];
  }
  return balanced;
}

/** Returns the width of text on one line, in points. */
export function textWidth(text: string, style: TextStyle, fonts: Fonts): number {
  return widthOf(printable(text, fonts), style, fonts);
}

/** Splits text into trimmed paragraphs, with at most one empty paragraph between two others. */
function paragraphsOf(text: string): string[] {
  const trimmed = text
    .replace(/ {2,}/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return trimmed === '' ? [] : trimmed.split('\n');
}

function widthOf(text: string, { size, weight }: TextStyle, fonts: Fonts): number {
  return sumWidth(runsOf(text, fonts, weight)) * size;
}

function sumWidth(runs: Run[]): number {
  return runs.reduce((sum, { width }) => sum + width, 0);
}

function linesOf(paragraph: string, widthMax: number, measure: (piece: string) => number): string[] {
  const lines: string[] = [];
  let line = '';
  let width = 0;
  const close = () => {
    lines.push(line.trim() === '' ? '' : line);
    line = '';
    width = 0;
  };
  const parts = paragraph.split(' ').flatMap((word) => breakableParts(`${word} `));
  for (const piece of parts.flatMap((part) => piecesOf(part, widthMax, measure))) {
    // A trailing space can stick out into the margin.
    if (line !== '' && width + measure(piece.trimEnd()) > widthMax) close();
    line += piece;
    width += measure(piece);
  }
  close();
  return lines;
}

/** The most characters of a word that can fit on a line. */
const WORD_MAX = 400;

/** Splits a word only if it is too wide: after a hyphen, slash or the like, or else between any letters. */
function piecesOf(word: string, widthMax: number, measure: (piece: string) => number): string[] {
  if (word.length < WORD_MAX && measure(word.trimEnd()) <= widthMax) return [word];
  return (word.match(/[^-/@._]*[-/@._]+ ?|[^-/@._]+$/g) ?? [word]).flatMap((part) =>
    part.length < WORD_MAX && measure(part.trimEnd()) <= widthMax
      ? [part]
      : lettersOf(part, widthMax, measure),
  );
}

/**
 * Splits part of a word between letters. Adding up their widths one by one keeps the time linear in the length.
 */
function lettersOf(part: string, widthMax: number, measure: (piece: string) => number): string[] {
  const pieces: string[] = [];
  let piece = '';
  let width = 0;
  for (const letter of clustersOf(part)) {
    const added = measure(letter);
    if (piece !== '' && letter !== ' ' && width + added > widthMax - KERNING) {
      pieces.push(piece);
      piece = '';
      width = 0;
    }
    piece += letter;
    width += added;
  }
  return [...pieces, piece];
}

/** The most by which kerning can widen a text, in points. */
const KERNING = 1.5;
