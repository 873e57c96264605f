import t from 'tap';

import { createIds } from '../../../src/server/process/ids.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The milliseconds that a UUIDv7 begins with. */
function timeOf(uuid: string): number {
  return parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

t.test('an id is a UUIDv7 of its time, whatever chance says', async (t) => {
  for (const byte of [0x00, 0xff, 0x55, 0xaa])
    for (const ms of [0, 1, 1_795_176_000_000, Date.UTC(9999, 11, 31, 23, 59, 59, 999)]) {
      const uuid = createIds((size) => Buffer.alloc(size, byte)).uuid(ms);
      t.match(uuid, UUID_V7);
      t.equal(timeOf(uuid), ms);
    }
});

t.test('the ids of one moment are in the order of their making, whatever chance says', async (t) => {
  let byte = 0xff;
  const { uuid } = createIds((size) => Buffer.alloc(size, byte--));
  const made = Array.from({ length: 200 }, () => uuid(1_795_176_000_000));
  t.strictSame(made.toSorted(), made);
  t.equal(new Set(made).size, made.length);
});

t.test('more ids than are counted in a moment are still different', async (t) => {
  const { uuid } = createIds();
  const made = Array.from({ length: 5_000 }, () => uuid(1_795_176_000_000));
  t.ok(made.every((id) => UUID_V7.test(id)));
  t.equal(new Set(made).size, made.length);
  t.strictSame(made.slice(0, 4_096).toSorted(), made.slice(0, 4_096));
});

t.test('a prefix comes before the id, and counts in the same order', async (t) => {
  const ids = createIds();
  const first = ids.prefixed('job_', 5);
  const second = ids.uuid(5);
  t.match(first, /^job_00000000-0005-7000-/);
  t.match(second, /^00000000-0005-7001-/);
});
