import { sql } from 'kysely';

import { batchesOf, countRows, readBatch } from '../../../src/server/store/batches.ts';
import { onEachStore } from './_stores.ts';

onEachStore('batches have each row once, in the order of the key', async (t, { engine }) => {
  await engine.run('CREATE TABLE things (a TEXT, b INTEGER, PRIMARY KEY (a, b))');
  const all = ['x', 'y', 'z'].flatMap((a) => [2, 9, 10].map((b) => ({ a, b })));
  for (const { a, b } of all.toReversed()) await engine.run(`INSERT INTO things VALUES ('${a}', ${b})`);
  const things = { columns: sql`t.a, t.b`, from: sql`things AS t`, key: ['t.a', 't.b'] };
  for (const rowsMax of [1, 3, 4, 9, 10]) {
    const found: object[] = [];
    for await (const rows of batchesOf(engine.db, { ...things, rowsMax })) {
      t.ok(rows.length > 0 && rows.length <= rowsMax);
      found.push(...rows);
    }
    t.strictSame(found, all, `${rowsMax} at once`);
  }
  const where = sql<boolean>`t.b > 2`;
  const after = { a: 'y', b: 9 };
  t.strictSame(await readBatch(engine.db, { ...things, where, after, rowsMax: 2 }), [
    { a: 'y', b: 10 },
    { a: 'z', b: 9 },
  ]);
  t.equal(await countRows(engine.db, things.from, where), 6);
});
