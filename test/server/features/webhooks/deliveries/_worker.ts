/*
 * A worker as a process of its own, which a test may kill or freeze. Its first argument is a JSON object of `WorkerSettings`.
 * It tells when it works by a line on standard output, and ends at SIGTERM.
 */
import { openEngine } from '../../../../../src/server/store/engines/open-engine.ts';
import { createWebhookSender } from '../../../../../src/server/sending/sender.ts';
import { startLoop } from './_delivery-loop.ts';
import { quickClock, type WorkerSettings } from './_workers.ts';

// The test that starts it wrote them.
const settings = JSON.parse(process.argv[2] ?? '') as WorkerSettings;
const engine = await openEngine(settings.databaseUrl);
const sender = createWebhookSender({
  resolve: async () => ['127.0.0.1'],
  isCallable: (address) => address === '127.0.0.1',
  ca: settings.ca,
  port: settings.port,
  deadlineMs: settings.deadlineMs,
});
const loop = startLoop(engine, sender, {
  now: quickClock(settings),
  leaseMs: settings.leaseMs * settings.speed,
  concurrencyMax: settings.concurrencyMax,
});
await loop.idle();
process.stdout.write('working\n');
process.once('SIGTERM', () => {
  void (async () => {
    await loop[Symbol.asyncDispose]();
    await sender[Symbol.asyncDispose]();
    await engine[Symbol.asyncDispose]();
  })();
});
