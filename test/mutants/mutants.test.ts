import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { mutants } from './_all.ts';

const root = join(import.meta.dirname, '..', '..');

t.test('each fault can be planted in one place, and names test files that there are', async (t) => {
  for (const { fault, file, from, to, tests } of mutants) {
    const places = readFileSync(join(root, file), 'utf8').split(from).length - 1;
    t.equal(places, 1, `${file} has the text of "${fault}" once`);
    t.not(from, to, fault);
    t.ok(tests.length > 0, fault);
    for (const test of tests) t.ok(existsSync(join(root, test)), test);
  }
});

t.test('no fault is told twice', async (t) => {
  t.equal(new Set(mutants.map(({ fault }) => fault)).size, mutants.length);
});
