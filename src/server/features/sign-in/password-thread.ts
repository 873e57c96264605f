/*
 * The thread of password-strength.ts. The dictionaries take some 60 MB, and a long text takes a core for a second, which
 * the server's own thread is spared.
 */
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary as commonWords } from '@zxcvbn-ts/language-common';
import { dictionary as englishWords, translations } from '@zxcvbn-ts/language-en';

export interface Estimated {
  text: string;
  /** Words that are tried first: what is known of the owner. */
  words: string[];
}

export interface Estimate {
  /** From 0, found in a thousand guesses, to 4, not found in ten thousand million. */
  score: number;
  /** Sentences that say why it is weak and how to make it stronger; may be empty. */
  advice: string[];
}

const estimator = new ZxcvbnFactory({
  dictionary: { ...commonWords, ...englishWords },
  graphs: adjacencyGraphs,
  translations,
});

/** Estimates how easily a text is guessed. */
export function estimate({ text, words }: Estimated): Estimate {
  const { score, feedback } = estimator.check(text, words);
  const advice = [feedback.warning, ...feedback.suggestions].filter((sentence) => sentence !== null);
  return { score, advice };
}
