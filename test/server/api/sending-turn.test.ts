import { setImmediate as turn } from 'node:timers/promises';

import t from 'tap';

import { createSendingTurn } from '../../../src/server/api/answer.ts';

/** Asks for so many turns, and notes in which order they come. */
function waitFor(sendingTurn: () => Promise<void>, count: number): number[] {
  const sent: number[] = [];
  for (let index = 0; index < count; index += 1) void sendingTurn().then(() => sent.push(index));
  return sent;
}

const inOrder = (count: number) => Array.from({ length: count }, (_value, index) => index);

/** Long enough for promises, and not for the event loop. */
async function settle(): Promise<void> {
  for (let step = 0; step < 10; step += 1) await Promise.resolve();
}

t.test('the answers of one turn are sent at its end, in order, and no more than sixteen wait', async (t) => {
  const sendingTurn = createSendingTurn();
  for (const count of [1, 2, 15, 16, 17, 40]) {
    const sent = waitFor(sendingTurn, count);
    await settle();
    t.strictSame(
      sent,
      inOrder(count - (count % 16)),
      `of ${count}, the others wait for those that may follow`,
    );
    await turn();
    t.strictSame(sent, inOrder(count));
  }
});

t.test('an answer that begins to wait while others are sent has a turn of its own', async (t) => {
  const sendingTurn = createSendingTurn();
  const sent: string[] = [];
  void sendingTurn().then(async () => {
    sent.push('first');
    await sendingTurn();
    sent.push('second');
  });
  await turn();
  t.strictSame(sent, ['first']);
  await turn();
  t.strictSame(sent, ['first', 'second']);
});
