/*
 * Reads a record again and again at a steady pace, in a process of its own, as one client among others does. A message
 * says for how long: for so many milliseconds, or until the next message. It is answered with the times of the reads.
 */
import { setTimeout as pause } from 'node:timers/promises';

import { createBareClient } from './_bare-client.ts';

/** The record that is read, and how often. */
export interface Pace {
  url: string;
  path: string;
  key: string;
  everyMs: number;
}

/** How long it is read; until the next message when no time is given. */
export interface Stretch {
  forMs: number | undefined;
}

const { url, path, key, everyMs } = JSON.parse(process.argv[2] ?? '') as Pace;
const ask = createBareClient(url, key);
let underWay: AbortController | undefined;

process.on('message', ({ forMs }: Stretch) => {
  if (underWay) underWay.abort();
  else void run(forMs);
});
process.on('disconnect', () => process.exit());

async function run(forMs = Infinity): Promise<void> {
  const { signal } = (underWay = new AbortController());
  const times: number[] = [];
  const startedAt = performance.now();
  for (let due = startedAt; !signal.aborted && performance.now() - startedAt < forMs; due += everyMs) {
    await pause(Math.max(0, due - performance.now()));
    const askedAt = performance.now();
    await ask(path);
    times.push(performance.now() - askedAt);
  }
  underWay = undefined;
  process.send?.(times);
}
