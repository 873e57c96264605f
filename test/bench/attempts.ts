import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import { join } from 'node:path';

import { createSender, type Sender } from '../../src/webhooks/sender.ts';
import type { Bench } from './_bench.ts';
import { compare, type Reached, type Side, tableOf } from './_rounds.ts';
import type { ReceiverPlace } from './_webhook-receiver.ts';

const ROUNDS = Number(process.env.ATTEMPTS_ROUNDS ?? 5);
const KEPT_COUNT = 5_000;
const NEW_COUNT = 1_000;
const AT_ONCE = 64;
const HOSTS = 100;
const BODY = JSON.stringify({ event: 'job.created', data: 'x'.repeat(960) });

/** One attempt after the other in each of 64 slots, to a receiver on the same machine. */
export const attempts: Bench = {
  about:
    'attempts a second to a TLS receiver beside them, on kept and on new connections, and node:https alone',
  run: async () => {
    const figures = await benchAttempts();
    const text = figures.map(({ connections, reached }) => tableOf(`${connections}: attempts`, reached));
    return { figures, text: text.join('\n\n') };
  },
};

interface Compared {
  connections: 'kept' | 'new';
  reached: Reached[];
}

async function benchAttempts(): Promise<Compared[]> {
  const receiver = fork(join(import.meta.dirname, '_webhook-receiver.ts'));
  try {
    const [place] = (await once(receiver, 'message')) as [ReceiverPlace];
    await using sender = createSender({
      resolve: async () => ['127.0.0.1'],
      isCallable: (address) => address === '127.0.0.1',
      ...place,
    });
    return [
      {
        connections: 'kept',
        reached: await compareBoth(sender, place, { path: '/kept', count: KEPT_COUNT }),
      },
      { connections: 'new', reached: await compareBoth(sender, place, { path: '/close', count: NEW_COUNT }) },
    ];
  } finally {
    receiver.disconnect();
    await once(receiver, 'exit');
  }
}

async function compareBoth(
  sender: Sender,
  { port, ca }: ReceiverPlace,
  { path, count }: { path: string; count: number },
): Promise<Reached[]> {
  const agent = new Agent({ keepAlive: true, ca, port, maxCachedSessions: 0 });
  const send = async (host: string) => {
    const { status, error } = await sender.send({ url: `https://${host}${path}`, headers: {}, body: BODY });
    return status ?? error;
  };
  const ask = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { Host: host, 'Content-Length': BODY.length };
      const request = httpsRequest({
        agent,
        host: '127.0.0.1',
        port,
        servername: host,
        method: 'POST',
        path,
        headers,
      });
      request.once('error', reject).once('response', (response) => {
        response.resume().once('close', () => resolve(response.statusCode));
      });
      request.end(BODY);
    });
  const sides: Side[] = [
    { name: 'node:https alone', round: () => inSlots(ask, count) },
    { name: 'the sender', round: () => inSlots(send, count) },
  ];
  const reached = await compare(sides, ROUNDS);
  agent.destroy();
  return reached;
}

/** Makes so many requests, 64 at once. */
async function inSlots(request: (host: string) => Promise<unknown>, count: number): Promise<number> {
  let made = 0;
  const slot = async () => {
    while (made < count) {
      made += 1;
      const outcome = await request(`h${made % HOSTS}.example.net`);
      if (outcome !== 200) throw new Error(`An attempt came to ${String(outcome)}.`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, slot));
  return count;
}
