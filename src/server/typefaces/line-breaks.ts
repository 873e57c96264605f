import { createRequire } from 'node:module';

/** Loads linebreak, only when the first text without spaces needs it. */
const load = createRequire(import.meta.url);

/** The export of linebreak, which has no types of its own. */
type LineBreaker = new (text: string) => { nextBreak: () => { position: number } | null };

/** Matches scripts without spaces between words. */
const UNSPACED = /[\p{sc=Thai}\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}]/u;

let thai: Intl.Segmenter | undefined;

/** Splits text without spaces where a line can break: Chinese and Japanese by UAX 14, Thai after each word. */
export function breakableParts(text: string): string[] {
  if (!UNSPACED.test(text)) return [text];
  const breaker = new (load('linebreak') as LineBreaker)(text);
  const parts: string[] = [];
  for (let from = 0, next = breaker.nextBreak(); next; from = next.position, next = breaker.nextBreak())
    parts.push(text.slice(from, next.position));
  return parts.flatMap(thaiWords);
}

/** Splits Thai into words with a dictionary. No line begins with punctuation or the repetition mark. */
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
