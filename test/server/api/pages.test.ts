import t from 'tap';

import { createCompany } from '../../../src/server/access/companies.ts';
import { listRecords } from '../../../src/server/store/records/records.ts';
import { openTestDatabase, STORY_NOW } from '../../_server.ts';
import { personOf, store } from './_records.ts';

t.test('a page holds as many records as it may, and tells where the next one begins', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  for (const [ids, lastId] of [
    [['a', 'b', 'c'], 'b'],
    [['a', 'b'], null],
    [['a'], null],
    [[], null],
  ] as const) {
    const company = `with-${ids.length}`;
    await createCompany(engine, company, {}, STORY_NOW);
    await store(
      engine,
      company,
      ids.map((id) => personOf({ id })),
    );
    const page = await listRecords(engine.db, 'people', company, undefined, { after: '', limit: 2 });
    t.equal(page.lastId, lastId);
    t.strictSame(
      page.records.map(({ body }) => (JSON.parse(body) as { id: string }).id),
      ids.slice(0, 2),
    );
  }
});
