import t from 'tap';

import { type EngineName, engineNames } from '../_server.ts';
import { guesser } from './_guesser.ts';
import { EMAIL, PASSWORD, startPortal } from './_portal.ts';

/** On PostgreSQL each one that is counted is a round trip more. */
const GUESSES: Record<EngineName, number> = { sqlite: 10_000, postgres: 2_000 };

for (const name of engineNames) {
  const count = GUESSES[name];
  t.test(
    `${name}: of ${count} guesses five are looked at, and the rest are refused in no time`,
    async (t) => {
      const portal = await startPortal(t, name, { trustedProxies: 1 });
      const guess = await guesser(portal);
      const statuses = new Map<number, number>();
      const startedAt = performance.now();
      for (let sent = 0; sent < count; sent += 50) {
        const batch = Array.from({ length: 50 }, (_value, index) =>
          guess(EMAIL, `guess ${sent + index} is wrong`),
        );
        for (const { statusCode } of await Promise.all(batch))
          statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
      }
      t.strictSame(Object.fromEntries(statuses), { 422: 5, 429: count - 5 });
      t.comment(`${count} guesses in ${Math.round(performance.now() - startedAt)} ms`);
      t.equal((await guess(EMAIL, PASSWORD)).statusCode, 429, 'the right one comes too late');
      t.equal(
        (await guess(EMAIL, PASSWORD, '203.0.113.9')).statusCode,
        303,
        'its owner gets in from elsewhere',
      );
    },
  );
}
