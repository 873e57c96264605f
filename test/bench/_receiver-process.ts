import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { Arrival, ReceiverPlace } from './_webhook-receiver.ts';

const ARRIVAL_MS_MAX = 5_000;

/** `_webhook-receiver.ts` as it runs. */
export interface ReceiverProcess extends AsyncDisposable {
  place: ReceiverPlace;
  /** When each of the deliveries arrived, once all have. */
  arrivals: (deliveries: readonly string[]) => Promise<ReadonlyMap<string, number>>;
}

/** Starts it, and waits until it listens. */
export async function startReceiver(): Promise<ReceiverProcess> {
  const child = fork(join(import.meta.dirname, '_webhook-receiver.ts'));
  const [place] = (await once(child, 'message')) as [ReceiverPlace];
  const arrived = new Map<string, number>();
  child.on('message', ({ delivery, atMs }: Arrival) => arrived.set(delivery, atMs));
  return {
    place,
    async arrivals(awaited) {
      const startedAt = performance.now();
      while (!awaited.every((delivery) => arrived.has(delivery))) {
        if (performance.now() > startedAt + ARRIVAL_MS_MAX) throw new Error('Not all deliveries arrived.');
        await pause(10);
      }
      return arrived;
    },
    [Symbol.asyncDispose]: () => endChild(child),
  };
}

/** Ends a process that ends with its parent. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.disconnect();
  await exited;
}
