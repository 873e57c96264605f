import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';

const bin = join(import.meta.dirname, '..', 'src', 'fieldledger.js');
const isRoot = process.getuid?.() === 0;

function openFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-cache-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs the command with nothing but these variables. */
async function run(environment: Record<string, string>) {
  const env = { PATH: process.env.PATH, ...environment };
  const options = { env, encoding: 'utf8' } as const;
  try {
    const { stderr } = await promisify(execFile)(process.execPath, [bin, 'config'], options);
    return { code: 0, stderr };
  } catch (error) {
    // Of a command that failed.
    const { code, stderr } = error as { code: number; stderr: string };
    return { code, stderr };
  }
}

t.test("compiled code is kept in the user's own cache folder, which nobody else can enter", async (t) => {
  const HOME = openFolder(t);
  t.strictSame(await run({ HOME }), { code: 0, stderr: '' });
  t.ok(readdirSync(join(HOME, '.cache', 'fieldledger')).length > 0);
  const XDG_CACHE_HOME = join(HOME, 'elsewhere');
  await run({ HOME, XDG_CACHE_HOME });
  t.ok(readdirSync(join(XDG_CACHE_HOME, 'fieldledger')).length > 0);
});

t.test(
  'no compiled code is taken from a folder that others can write, or a way that they can change',
  async (t) => {
    const HOME = openFolder(t);
    const open = join(HOME, 'open');
    const folder = join(open, 'fieldledger');
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
    t.strictSame(await run({ HOME, XDG_CACHE_HOME: open }), { code: 0, stderr: '' });
    t.strictSame(readdirSync(folder), []);
    chmodSync(folder, 0o700);
    chmodSync(open, 0o777);
    await run({ HOME, XDG_CACHE_HOME: open });
    t.strictSame(readdirSync(folder), [], 'one whose parent others can write');
    const link = join(HOME, 'link');
    symlinkSync(open, link);
    await run({ HOME, XDG_CACHE_HOME: link });
    t.strictSame(readdirSync(folder), [], 'nor by a link');
    t.notOk(existsSync(join(HOME, '.cache')));
  },
);

t.test(
  'no compiled code is taken from a folder of another user',
  { skip: !isRoot && 'only root makes one' },
  async (t) => {
    const HOME = openFolder(t);
    const folder = join(HOME, '.cache', 'fieldledger');
    mkdirSync(folder, { recursive: true });
    chownSync(folder, 65_534, 65_534);
    t.strictSame(await run({ HOME }), { code: 0, stderr: '' });
    t.strictSame(readdirSync(folder), []);
  },
);

t.test('a folder that NODE_COMPILE_CACHE names is refused when others can write it', async (t) => {
  const folder = openFolder(t);
  t.strictSame(await run({ NODE_COMPILE_CACHE: folder }), { code: 0, stderr: '' });
  chmodSync(folder, 0o777);
  t.strictSame(await run({ NODE_COMPILE_CACHE: folder }), {
    code: 1,
    stderr: `fieldledger: NODE_COMPILE_CACHE names ${folder}, which must be a folder of this user's that nobody else can change.\n`,
  });
});

t.test('a user without a home folder gets no stack trace', { skip: !isRoot && 'needs root' }, (t) => {
  const options = { uid: 54_321, gid: 54_321, encoding: 'utf8', cwd: '/' } as const;
  const { status, stderr } = spawnSync('env', ['-i', process.execPath, bin, 'config'], options);
  t.strictSame({ status, stderr }, { status: 0, stderr: '' });
  t.end();
});
