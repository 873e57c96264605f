import t from 'tap';

import { operations } from '../../../src/client/operations.ts';
import { openGeneration } from '../../../src/server/store/records/generation.ts';
import { knownPath } from '../../contract/_contract.ts';
import { engineNames, openTestDatabase, startExampleServer } from '../../_server.ts';
import { until } from '../../_command.ts';

t.test('each successful answer names the generation of the store', async (t) => {
  await using server = await startExampleServer('sqlite');
  const headers = { authorization: `Bearer ${server.key}` };
  const seen = new Set<unknown>();
  for (const operationId of Object.keys(operations)) {
    const answer = await server.http(knownPath(operationId).slice(1), { headers });
    seen.add(answer.headers['store-generation']);
    const again = await server.http(knownPath(operationId).slice(1), {
      headers: { ...headers, 'if-none-match': answer.headers.etag },
    });
    t.equal(again.statusCode, 304);
    seen.add(again.headers['store-generation']);
  }
  const [generation, ...others] = seen;
  t.match(generation, /^[A-Za-z0-9_-]{16}$/);
  t.strictSame(others, []);
});

for (const name of engineNames) {
  t.test(
    `${name}: servers agree about it, and one that is put back gets another while they run`,
    async (t) => {
      await using database = await openTestDatabase(name);
      const { engine } = database;
      let now = 0;
      const known = await Promise.all([1, 2, 3].map(() => openGeneration(engine, () => now)));
      const before = new Set(known.map((generation) => generation()));
      t.equal(before.size, 1);
      await engine.run('DELETE FROM store_generation');
      t.ok(before.has(known[0]?.() ?? ''), 'it is not asked for with each answer');
      now = 21_000;
      await until(() => known.every((generation) => !before.has(generation())));
      t.equal(new Set(known.map((generation) => generation())).size, 1);
    },
  );
}
