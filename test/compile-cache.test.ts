import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
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

t.test(
  'no compiled code is taken from a folder that others can write, or a way that they can change',
  async (t) => {
    const HOME = t.testdir();
    const open = join(HOME, 'open');
    const folder = join(open, 'fieldledger');
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
    t.strictSame(run({ HOME, XDG_CACHE_HOME: open }), fine);
    t.strictSame(readdirSync(folder), []);
    chmodSync(folder, 0o700);
    chmodSync(open, 0o777);
    run({ HOME, XDG_CACHE_HOME: open });
    t.strictSame(readdirSync(folder), [], 'one whose parent others can write');
    const link = join(HOME, 'link');
    symlinkSync(open, link);
    run({ HOME, XDG_CACHE_HOME: link });
    t.strictSame(readdirSync(folder), [], 'nor by a link');
    t.notOk(existsSync(join(HOME, '.cache')));
  },
);

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

t.test('a folder that NODE_COMPILE_CACHE names is refused when others can write it', async (t) => {
  const folder = t.testdir();
  t.strictSame(run({ NODE_COMPILE_CACHE: folder }), fine);
  chmodSync(folder, 0o777);
  t.strictSame(run({ NODE_COMPILE_CACHE: folder }), {
    status: 1,
    stderr: `fieldledger: NODE_COMPILE_CACHE names ${folder}, which must be a folder of this user's that nobody else can change.\n`,
  });
});

t.test('a user without a home folder gets no stack trace', { skip: !isRoot && 'needs root' }, async (t) => {
  t.strictSame(run({}, { uid: 54_321, gid: 54_321, cwd: '/' }), fine);
});
