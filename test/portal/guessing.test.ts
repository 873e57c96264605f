import t from 'tap';

import { engineNames } from '../_server.ts';
import { guesser } from './_guesser.ts';
import { EMAIL, PASSWORD, startPortal } from './_portal.ts';

for (const name of engineNames) {
  t.test(
    `${name}: of ten thousand guesses five are looked at, and the rest are refused in no time`,
    async (t) => {
      const portal = await startPortal(t, name, { trustedProxies: 1 });
      const guess = await guesser(portal);
      const statuses = new Map<number, number>();
      const startedAt = performance.now();
      for (let sent = 0; sent < 10_000; sent += 50) {
        const batch = Array.from({ length: 50 }, (_value, index) =>
          guess(EMAIL, `guess ${sent + index} is wrong`),
        );
        for (const { statusCode } of await Promise.all(batch))
          statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
      }
      t.strictSame(Object.fromEntries(statuses), { 422: 5, 429: 9_995 });
      t.comment(`10,000 guesses in ${Math.round(performance.now() - startedAt)} ms`);
      t.equal((await guess(EMAIL, PASSWORD)).statusCode, 429, 'the right one comes too late');
      t.equal(
        (await guess(EMAIL, PASSWORD, '203.0.113.9')).statusCode,
        303,
        'its owner gets in from elsewhere',
      );
    },
  );
}
