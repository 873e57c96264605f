/*
 * Asks for PDFs at a steady pace, in a process of its own that gives way to all others: its clients would be other
 * machines, and must not take a core from the server or from who else reads. A message says for which, and is answered
 * when all are there.
 */
import { constants, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

import { createBareClient } from './_bare-client.ts';

/** Some PDFs, each asked for so long after the one before. */
export interface Asked {
  paths: readonly string[];
  everyMs: number;
}

const [url = '', key = ''] = process.argv.slice(2);
/** A connection for each. */
const clients: ((path: string) => Promise<void>)[] = [];
setPriority(constants.priority.PRIORITY_LOW);

process.on('message', ({ paths, everyMs }: Asked) => {
  const startedAt = performance.now();
  const asked = paths.map(async (path, index) => {
    await pause(index * everyMs);
    await (clients[index] ??= createBareClient(url, key))(path);
  });
  void Promise.all(asked).then(() => process.send?.(performance.now() - startedAt));
});
process.on('disconnect', () => process.exit());
