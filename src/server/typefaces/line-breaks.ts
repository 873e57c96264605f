import { createRequire } from 'node:module';

/** Loaded with the first text that has no spaces. */
const load = createRequire(import.meta.url);

/** The exports of linebreak, which comes without types. */
type LineBreaker = new (text: string) => { nextBreak: () => { position: number } | null };

/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{sc=Thai}\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}]/u;

let thai: Intl.Segmenter | undefined;

/** Splits text without spaces where a line may end: Chinese and Japanese as UAX 14 has it, Thai after each word. */
export function breakableParts(text: string): string[] {
  if (!UNSPACED.test(text)) return [text];
  const breaker = new (load('linebreak') as LineBreaker)(text);
  const parts: string[] = [];
  for (let from = 0, next = breaker.nextBreak(); next; from = next.position, next = breaker.nextBreak())
    parts.push(text.slice(from, next.position));
  return parts.flatMap(thaiWords);
}

/** Words of Thai by a dictionary. No line begins with a sign, or with the sign of repetition. */
function thaiWords(text: string): string[] {
  if (!/\p{sc=Thai}/u.test(text)) return [text];
  thai ??= new Intl.Segmenter('th', { granularity: 'word' });
  const words: string[] = [];
  for (const { segment, isWordLike } of thai.segment(text)) {
    const before = words.at(-1);
    const isOpening = before !== undefined && /[\p{Ps}\p{Pi}]$/u.test(before);
    if (before !== undefined && (isOpening || !isWordLike || /^[ฯๆ]/.test(segment)))
      words[words.length - 1] = before + segment;
    else words.push(segment);
  }
  return words;
}
