import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

const bin = join(import.meta.dirname, '..', 'src', 'fieldledger.js');
const isRoot = process.getuid?.() === 0;
const fine = { status: 0, stderr: '' };

/** Runs the command with nothing but these variables. */
function run(environment: Record<string, string>, as: { uid?: number; gid?: number; cwd?: string } = {}) {
  const env = { PATH: process.env.PATH, ...environment };
  const { status, stderr } = spawnSync(process.execPath, [bin, 'config'], { ...as, env, encoding: 'utf8' });
  return { status, stderr };
}

t.test("compiled code is kept in the user's own cache folder, which nobody else can enter", async (t) => {
  const HOME = t.testdir();
  t.strictSame(run({ HOME }), fine);
  t.ok(readdirSync(join(HOME, '.cache', 'fieldledger')).length > 0);
  const XDG_CACHE_HOME = join(HOME, 'elsewhere');
  run({ HOME, XDG_CACHE_HOME });
  t.ok(readdirSync(join(XDG_CACHE_HOME, 'fieldledger')).length > 0);
});

t.test('no compiled code is taken from a folder that others can write', async (t) => {
  const HOME = t.testdir({ fieldledger: {} });
  const folder = join(HOME, 'fieldledger');
  chmodSync(folder, 0o777);
  t.strictSame(run({ HOME, XDG_CACHE_HOME: HOME }), fine);
  t.strictSame(readdirSync(folder), []);
});

t.test(
  'no compiled code is taken from a folder of another user',
  { skip: !isRoot && 'only root makes one' },
  async (t) => {
    const HOME = t.testdir();
    const folder = join(HOME, '.cache', 'fieldledger');
    mkdirSync(folder, { recursive: true });
    chownSync(folder, 65_534, 65_534);
    t.strictSame(run({ HOME }), fine);
    t.strictSame(readdirSync(folder), []);
  },
);

t.test('a user without a home folder gets no stack trace', { skip: !isRoot && 'needs root' }, async (t) => {
  t.strictSame(run({}, { uid: 54_321, gid: 54_321, cwd: '/' }), fine);
});
