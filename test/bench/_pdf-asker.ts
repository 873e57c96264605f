/*
 * Asks for PDFs at a steady pace, in a process of its own and of the lowest priority: its clients would be other
 * machines, and must not take a core from the server or from who else reads. A message says for which, and is answered
 * when all are there.
 */
import { Agent, get } from 'node:http';
import { setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

/** Some PDFs, each asked for so long after the one before. */
export interface Asked {
  urls: readonly string[];
  everyMs: number;
}

const [key = '', connections = '1'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const headers = { authorization: `Bearer ${key}` };
setPriority(19);

process.on('message', ({ urls, everyMs }: Asked) => {
  const startedAt = performance.now();
  const asked = urls.map(async (url, index) => {
    await pause(index * everyMs);
    await ask(url);
  });
  void Promise.all(asked).then(() => process.send?.(performance.now() - startedAt));
});
process.on('disconnect', () => process.exit());

function ask(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} is answered with ${response.statusCode}.`));
      response.resume().once('end', resolve);
    }).once('error', reject);
  });
}
