/*
 * The load generator, autocannon, in a process of its own. Each message is a load to run, and is answered with what
 * came of it.
 */
import { createRequire } from 'node:module';

import type { Load, Loaded } from './_load.ts';
import { quantile } from './_rounds.ts';

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

// It comes without types; this is what is used of it.
const autocannon = createRequire(import.meta.url)('autocannon') as Autocannon;

/** How often autocannon looks whether the time is over. */
const SAMPLE_MS = 50;

process.on('message', (load: Load) => {
  void run(load).then((loaded) => process.send?.(loaded));
});
process.on('disconnect', () => process.exit());
process.send?.('ready');

/** Its own histogram counts whole milliseconds, of which a request here takes a part; so the times are kept. */
async function run({ url, paths, headers, connections, seconds }: Load): Promise<Loaded> {
  const times: Record<number, number[]> = {};
  const startedAt = performance.now();
  let lastAt = startedAt;
  const errors = await new Promise<number>((resolve, reject) => {
    const requests = paths?.map((path) => ({ path }));
    const time = { duration: seconds, sampleInt: SAMPLE_MS, timeout: 60 };
    const options = { url, headers, connections, ...(requests ? { requests } : {}), ...time };
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
  const byStatus = Object.entries(times).map(([status, ofStatus]) => [
    status,
    {
      count: ofStatus.length,
      perSecond: ofStatus.length / elapsedSeconds,
      p50: quantile(ofStatus, 0.5),
      p99: quantile(ofStatus, 0.99),
      longest: quantile(ofStatus, 1),
    },
  ]);
  return { errors, byStatus: Object.fromEntries(byStatus) as Loaded['byStatus'] };
}
