import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import t from 'tap';
import type { Test } from 'tap';

import { isDelivered } from '../../src/webhooks/sender.ts';
import { behaviours } from './_behaviours.ts';
import { watchDials } from './_dialled.ts';
import { startTlsReceiver } from './_receivers.ts';
import { DEADLINE_MS, requestTo, senderTo } from './_senders.ts';

/** More than the system takes before the receiver reads. */
const LONG_BODY = 'x'.repeat(8_000_000);

for (const { name, behave, expected } of behaviours) {
  t.test(`${expected} from a receiver that ${name}`, async (t) => {
    await using receiver = await startTlsReceiver(behave);
    // Who answers has the time to, on a busy machine too; who doesn't is waited for in every run of the tests.
    const deadlineMs = expected === 'timeout' ? DEADLINE_MS : 10_000;
    await using sender = senderTo(receiver, { deadlineMs });
    const dialled = watchDials(t);
    for (const body of ['{}', LONG_BODY]) {
      const startedAt = performance.now();
      const result = await sender.send(requestTo({ body }));
      const heldMs = performance.now() - startedAt;
      t.ok(result.totalMs < deadlineMs + 300, `the attempt took ${result.totalMs} ms`);
      t.ok(heldMs < result.totalMs + 300, `and its slot was free after ${heldMs} ms`);
      t.match(
        result,
        typeof expected === 'number' ? { status: expected, error: null } : { status: null, error: expected },
      );
      t.equal(isDelivered(result), expected === 200 || expected === 204);
      await closed(t, dialled);
    }
  });
}

t.test('200 attempts at receivers that misbehave leave no connection behind', async (t) => {
  const dialled = watchDials(t);
  await using stack = new AsyncDisposableStack();
  const receivers = await Promise.all(behaviours.map(({ behave }) => startTlsReceiver(behave)));
  for (const receiver of receivers) stack.use(receiver);
  const senders = receivers.map((receiver) => senderTo(receiver));
  await Promise.all(
    Array.from({ length: 200 }, async (_value, index) => senders[index % senders.length]?.send(requestTo())),
  );
  t.equal(dialled.length, 200);
  await closed(t, dialled);
  for (const sender of senders) await sender[Symbol.asyncDispose]();
});

/** None of the receivers leaves a connection that can be kept. */
async function closed(t: Test, dialled: readonly Socket[]): Promise<void> {
  const startedAt = performance.now();
  while (dialled.some(({ destroyed }) => !destroyed) && performance.now() - startedAt < 1_000) await wait(1);
  t.equal(dialled.filter(({ destroyed }) => !destroyed).length, 0, 'no connection is left');
}
