/*
 * A sender in a process of its own, for what is said to a process alone: environment, options of Node, memory. It is
 * told what to do as JSON in its first argument, and prints what came of it.
 */
import { createWebhookSender } from '../../../src/server/sending/sender.ts';
import { requestTo } from './_senders.ts';

export interface Errand {
  ca: string;
  /** A receiver to warm up with, as often and as many at once as is measured. */
  warmUpPort: number;
  ports: number[];
  count: number;
}

export interface Report {
  results: (number | string | null)[];
  /** How much the memory of the process grew at most, in bytes. */
  grownBytes: number;
}

const { ca, warmUpPort, ports, count } = JSON.parse(process.argv[2] ?? '') as Errand;

async function attempt(port: number): Promise<Report['results']> {
  await using sender = createWebhookSender({
    resolve: async () => ['127.0.0.1'],
    isCallable: (address) => address === '127.0.0.1',
    ca,
    port,
    deadlineMs: 30_000,
  });
  const results = await Promise.all(Array.from({ length: count }, async () => sender.send(requestTo())));
  return results.map(({ status, error }) => status ?? error);
}

for (let round = 0; round < 3; round += 1) await attempt(warmUpPort);
const before = process.memoryUsage.rss();
let most = before;
const timer = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 5);
const results: Report['results'] = [];
for (const port of ports) results.push(...(await attempt(port)));
clearInterval(timer);
const report: Report = { results, grownBytes: Math.max(most, process.memoryUsage.rss()) - before };
process.stdout.write(JSON.stringify(report));
