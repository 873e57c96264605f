/*
 * The load generator, autocannon, in a process of its own: as a program, this file runs the loads that its parent sends.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { constants, setPriority } from 'node:os';

import { quantile } from './_rounds.ts';

/** Requests that are sent as fast as they are answered. */
export interface Load {
  url: string;
  key: string;
  /** Shared out among the connections, which ask for theirs again and again. */
  paths: readonly string[];
  /** Kept alive, with one request under way on each. */
  connections: number;
  /** How long it lasts, or how many requests it has in all. */
  seconds?: number;
  amount?: number;
  /** Gives way to all other processes: its clients would be other machines, and must not take a core from the server. */
  isLow?: boolean;
}

/** The results of the answers with one status; times in milliseconds. */
export interface Answers {
  count: number;
  perSecond: number;
  p50: number;
  p99: number;
  longest: number;
}

export interface Loaded {
  /** Connections that broke, and requests without an answer. */
  errors: number;
  byStatus: Record<string, Answers>;
}

export interface Generator extends AsyncDisposable {
  run: (load: Load) => Promise<Loaded>;
  /** The same, where every request has to be answered with 200. */
  runAnswered: (load: Load) => Promise<Answers>;
}

/** Starts the load generator, for one load after the other. It ends with its parent. */
export async function startGenerator(): Promise<Generator> {
  const child = fork(import.meta.filename, { env: { PATH: process.env.PATH } });
  const ended = once(child, 'exit').then(() => {
    throw new Error('The load generator ended.');
  });
  ended.catch(() => undefined);
  async function run(load: Load): Promise<Loaded> {
    child.send(load);
    const [loaded] = (await Promise.race([once(child, 'message'), ended])) as [Loaded];
    return loaded;
  }
  return {
    run,
    async runAnswered(load) {
      const { errors, byStatus } = await run(load);
      const { 200: answers, ...others } = byStatus;
      if (answers && errors === 0 && Object.keys(others).length === 0) return answers;
      const statuses = Object.keys(byStatus).join(' ');
      throw new Error(`${load.url}${load.paths[0]}: ${errors} errors, statuses ${statuses}`);
    },
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await ended.catch(() => undefined);
    },
  };
}

interface Instance {
  on: (
    event: 'response',
    listener: (client: unknown, status: number, bytes: number, ms: number) => void,
  ) => void;
}
type Autocannon = (
  options: object,
  done: (error: Error | null, result: { errors: number }) => void,
) => Instance;

/** How often autocannon looks whether the time is over. */
const SAMPLE_MS = 50;

/** autocannon's own histogram counts whole milliseconds, of which a request here takes a part, so the times are kept. */
async function generate({ url, key, paths, connections, seconds, amount }: Load): Promise<Loaded> {
  // It comes without types; these are the parts that are used.
  const autocannon = createRequire(import.meta.url)('autocannon') as Autocannon;
  const times: Record<number, number[]> = {};
  const startedAt = performance.now();
  let lastAt = startedAt;
  let opened = 0;
  const errors = await new Promise<number>((resolve, reject) => {
    const options = {
      ...{ url, connections, sampleInt: SAMPLE_MS, timeout: 60 },
      ...(amount === undefined ? { duration: seconds } : { amount }),
      headers: { authorization: `Bearer ${key}` },
      setupClient(client: { setRequests: (requests: object[]) => void }) {
        const place = opened++;
        const own = paths.filter((_, index) => paths.length < connections || index % connections === place);
        client.setRequests(own.map((path) => ({ path })));
      },
    };
    const instance = autocannon(options, (error, result) => {
      if (error) reject(error);
      else resolve(result.errors);
    });
    instance.on('response', (_client, status, _bytes, ms) => {
      (times[status] ??= []).push(ms);
      lastAt = performance.now();
    });
  });
  const elapsedSeconds = (lastAt - startedAt) / 1000;
  const byStatus = Object.entries(times).map(([status, ofStatus]): [string, Answers] => [
    status,
    {
      count: ofStatus.length,
      perSecond: ofStatus.length / elapsedSeconds,
      p50: quantile(ofStatus, 0.5),
      p99: quantile(ofStatus, 0.99),
      longest: quantile(ofStatus, 1),
    },
  ]);
  return { errors, byStatus: Object.fromEntries(byStatus) };
}

if (import.meta.main) {
  process.on('message', (load: Load) => {
    setPriority(load.isLow ? constants.priority.PRIORITY_LOW : constants.priority.PRIORITY_NORMAL);
    void generate(load).then((loaded) => process.send?.(loaded));
  });
}
