import { setTimeout as pause } from 'node:timers/promises';

import { quantile } from './_rounds.ts';

/** A client that reads 200 records a second leaves the server idle most of the time. */
const EVERY_MS = 5;

/**
 * Reads a record at a steady pace, as one client among others does, until some work is done.
 * @returns the p99 of its reads, in milliseconds.
 */
export async function readMeanwhile(url: string, key: string, work: Promise<unknown>): Promise<number> {
  const over = new AbortController();
  const done = work.finally(() => over.abort());
  const times: number[] = [];
  for (let due = performance.now(); !over.signal.aborted; due += EVERY_MS) {
    await pause(Math.max(0, due - performance.now()));
    const askedAt = performance.now();
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${url} answers with ${response.status}.`);
    times.push(performance.now() - askedAt);
  }
  await done;
  return quantile(times, 0.99);
}
