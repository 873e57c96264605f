import t from 'tap';

import type { ListedRow } from '../../src/store/lists/lists.ts';
import { readPage } from '../../src/store/lists/pages.ts';

const rowsOf = (...ids: string[]): ListedRow[] =>
  ids.map((id) => ({ id, body: `{"id":"${id}"}`, digest: `digest of ${id}` }));
const selection = { table: 'jobs', company: 'acme', among: {}, ranges: [] } as const;

t.test('a page holds as many records as it may, and tells where the next one begins', async (t) => {
  for (const [ids, lastId] of [
    [['a', 'b', 'c'], 'b'],
    [['a', 'b'], null],
    [['a'], null],
    [[], null],
  ] as const) {
    const { records, digests, ...rest } = await readPage(
      async () => rowsOf(...ids),
      { after: '', limit: 2 },
      selection,
    );
    t.strictSame(rest, { lastId });
    t.strictSame(
      records,
      ids.slice(0, 2).map((id) => `{"id":"${id}"}`),
    );
    t.strictSame(
      digests,
      ids.slice(0, 2).map((id) => `digest of ${id}`),
    );
  }
});
