import t from 'tap';

import { readChanges } from '../../src/client/sync/changes.ts';
import type { ListState } from '../../src/client/sync/sink.ts';

t.test('the next pass begins with the first page, because it may change while others are read', async (t) => {
  const page = (time: string, nextCursor: string | null) => ({
    ...{ data: [{ id: time }], hasMore: nextCursor !== null, nextCursor, generation: undefined },
    date: new Date(`2026-11-20T${time}Z`),
  });
  async function* pages() {
    yield page('12:00:00', 'two');
    yield page('12:10:00', 'three');
    yield page('12:20:00', null);
  }
  const state: ListState = {};
  const changes = readChanges({ pages }, state, async (put) => ({ put, remove: [] }), {});
  const read: string[] = [];
  for await (const { put } of changes) read.push(...put.map(({ id }) => id));
  t.strictSame(read, ['12:00:00', '12:10:00', '12:20:00']);
  t.equal(state.checkpoint, '2026-11-20T11:59:00.000Z', 'a minute before it, for clocks that differ');
});
