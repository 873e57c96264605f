/*
 * Reads a record again and again at a steady pace, in a process of its own, as one client among others does. A message
 * says for how long: for so many milliseconds, or until the next message. It is answered with the times of the reads.
 */
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** What is read, and how often. */
export interface Pace {
  url: string;
  key: string;
  everyMs: number;
}

/** How long it is read; until the next message when no time is given. */
export interface Stretch {
  forMs: number | undefined;
}

const { url, key, everyMs } = JSON.parse(process.argv[2] ?? '') as Pace;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const headers = { authorization: `Bearer ${key}` };
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
    await ask();
    times.push(performance.now() - askedAt);
  }
  underWay = undefined;
  process.send?.(times);
}

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} is answered with ${response.statusCode}.`));
      response.resume().once('end', resolve);
    }).once('error', reject);
  });
}
