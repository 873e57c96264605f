import t from 'tap';

import { openGeneration } from '../../../src/server/store/records/generation.ts';
import { engineNames, openTestDatabase, startExampleServer } from '../../_server.ts';
import { until } from '../../_command.ts';

// That each answer names one is the contract's to ask (test/contract/_conformance.ts).
t.test('an answer names the generation of its store', async (t) => {
  await using server = await startExampleServer('sqlite');
  const headers = { authorization: `Bearer ${server.key}` };
  const generation = await openGeneration(server.engine);
  for (const path of ['api/v1/jobs', 'api/v1/invoices'])
    t.equal((await server.http(path, { headers })).headers['store-generation'], generation());
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
