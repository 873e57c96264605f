/*
 * Worker thread of password-strength.ts. The dictionaries take some 60 MB, and a long text occupies a core for a second, so
 * the server's main thread is spared both.
 */
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary as commonWords } from '@zxcvbn-ts/language-common';
import { dictionary as englishWords, translations } from '@zxcvbn-ts/language-en';

export interface Estimated {
  text: string;
  /** Words tried first, taken from the owner's details. */
  words: string[];
}

export interface Estimate {
  /** From 0 (found within a thousand guesses) to 4 (not found within ten thousand million). */
  score: number;
  /** Sentences that explain the weakness and how to strengthen the password; may be empty. */
  advice: string[];
}

const estimator = new ZxcvbnFactory({
  dictionary: { ...commonWords, ...englishWords },
  graphs: adjacencyGraphs,
  translations,
});

/** Estimates how easily a text can be guessed. */
export function estimate({ text, words }: Estimated): Estimate {
  const { score, feedback } = estimator.check(text, words);
  const advice = [feedback.warning, ...feedback.suggestions].filter((sentence) => sentence !== null);
  return { score, advice };
}
