/*
 * The thread of password-strength.ts: it answers each message with an estimate. The dictionaries take some 60 MB, and a
 * long text takes a core for a second. The server doesn't pay for either.
 */
import { parentPort } from 'node:worker_threads';

import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary as commonWords } from '@zxcvbn-ts/language-common';
import { dictionary as englishWords, translations } from '@zxcvbn-ts/language-en';

/** The text to estimate. */
export interface Estimated {
  text: string;
  /** Words that whoever guesses tries first. */
  words: string[];
}

/** The result. */
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
parentPort?.on('message', ({ text, words }: Estimated) => {
  const { score, feedback } = estimator.check(text, words);
  const advice = [feedback.warning, ...feedback.suggestions].filter((sentence) => sentence !== null);
  parentPort?.postMessage({ score, advice } satisfies Estimate);
});
