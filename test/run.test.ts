// Long: it runs the test command a dozen times.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

import t from 'tap';
import type { Test } from 'tap';

const root = join(import.meta.dirname, '..');
const steps = {
  docs: 'true',
  'lint:format': 'true',
  'lint:imports': 'true',
  'lint:code': 'true',
  'lint:contract': 'true',
  types: 'true',
};

type Tests = Record<string, string | Record<string, string>>;

/**
 * Runs the test command over a project made for it, and gives its exit code and its last line.
 * @param files those that are named: all, unless the steps before them are of interest.
 */
function runOn(
  t: Test,
  tests: Tests,
  {
    files = Object.keys(tests).map((name) => `test/${name}`),
    scripts = {},
    timeoutSeconds = 60,
  }: { files?: string[]; scripts?: Partial<typeof steps>; timeoutSeconds?: number } = {},
) {
  const options = projectOf(t, tests, scripts, timeoutSeconds);
  const { status, stdout } = spawnSync(process.execPath, ['test/run.ts', ...files], options);
  return { status, stdout, lastLine: stdout.trimEnd().split('\n').at(-1) };
}

/** Makes the project, and says where and how a command runs in it. */
function projectOf(t: Test, tests: Tests, scripts: Partial<typeof steps> = {}, timeoutSeconds = 60) {
  const folder = t.testdir({
    'package.json': JSON.stringify({ type: 'module', scripts: { ...steps, ...scripts } }),
    node_modules: t.fixture('symlink', join(root, 'node_modules')),
    test: tests,
  });
  for (const name of ['run.ts', '_tally.ts', '_postgres.ts', '_files.ts', '_tap.ts', '_plain-tap.cjs']) {
    copyFileSync(join(root, 'test', name), join(folder, 'test', name));
  }
  // This process is itself run by tap, which tells its children so.
  const own = Object.entries(process.env).filter(([name]) => !/^_?TAP|^NODE_OPTIONS$/.test(name));
  const env = { ...Object.fromEntries(own), TEST_FILE_SECONDS: String(timeoutSeconds) };
  return { cwd: folder, env, encoding: 'utf8' } as const;
}

const file = (...lines: string[]) => ["import t from 'tap';", ...lines].join('\n');
const good = "t.test('good', async (t) => { t.ok(true); t.ok(true); });";

t.test('a whole run that passes counts its tests and steps', async (t) => {
  const outer = "t.test('outer', async (t) => { t.test('inner', async (t) => { t.ok(true); }); });";
  const deep = { 'two.test.ts': file("t.ok(true, 'a file may assert by itself');") };
  const { status, lastLine } = runOn(t, { 'one.test.ts': file(good, outer), deep }, { files: [] });
  t.equal(status, 0);
  t.equal(lastLine, '9 passed, 0 failed');
});

t.test('a file that is named runs alone, without the steps', async (t) => {
  const tests = { 'one.test.ts': file(good), 'two.test.ts': file(good) };
  const { status, lastLine } = runOn(t, tests, {
    files: ['test/one.test.ts'],
    scripts: { types: 'exit 2' },
  });
  t.equal(status, 0);
  t.equal(lastLine, '1 passed, 0 failed');
});

t.test('a skipped test is neither passed nor failed', async (t) => {
  const skipped = "t.test('later', { skip: 'no network' }, async () => {});";
  const { status, lastLine } = runOn(t, { 'one.test.ts': file(good, skipped) });
  t.equal(status, 0);
  t.equal(lastLine, '1 passed, 0 failed, 1 skipped');
});

t.test('a failed step fails the run', async (t) => {
  const { status, stdout, lastLine } = runOn(
    t,
    { 'one.test.ts': file(good) },
    { files: [], scripts: { types: 'echo wrong type; exit 2' } },
  );
  t.equal(status, 1);
  t.match(stdout, 'wrong type');
  t.equal(lastLine, '6 passed, 1 failed');
});

t.test('whatever breaks a file is one failure, and the file beside it still counts', async (t) => {
  const { status, stdout, lastLine } = runOn(t, {
    'asserts-wrongly.test.ts': file("t.test('bad', async (t) => { t.equal(1, 2); t.equal(3, 4); });"),
    'asserts-nothing.test.ts': file("t.test('bad', async () => {});"),
    'throws.test.ts': file("t.test('bad', async () => { throw new Error('no'); });"),
    'leaves.test.ts': file("t.test('bad', async () => { process.exit(0); });"),
    'does-not-load.test.ts': 'this is not TypeScript',
    'has-no-test.test.ts': 'export const nothing = 1;',
    'good.test.ts': file(good),
  });
  t.equal(status, 1);
  for (const name of 'asserts-wrongly asserts-nothing throws leaves does-not-load has-no-test'.split(' '))
    t.match(stdout, `FAILED  test/${name}.test.ts  0 passed, 1 failed`);
  t.match(stdout, 'passed  test/good.test.ts  1 passed, 0 failed');
  t.equal(lastLine, '1 passed, 6 failed');
});

t.test('what a file leaves behind is a failure, for the next one would meet it', async (t) => {
  const server = "import { createServer } from 'node:http';";
  const { stdout, lastLine } = runOn(t, {
    'open.test.ts': [
      server,
      file("t.test('good', async (t) => { createServer().listen(0); t.ok(true); });"),
    ].join('\n'),
    'setting.test.ts': file("t.test('good', async (t) => { process.env.LEFT = '1'; t.ok(true); });"),
    'good.test.ts': file(good),
  });
  t.match(stdout, 'test/open.test.ts leaves behind: TCPServerWrap');
  t.match(stdout, 'test/setting.test.ts leaves behind: LEFT=1');
  t.match(
    lastLine,
    /^3 passed, [23] failed$/,
    'the second of two in one process inherits what the first has left',
  );
});

t.test('the last lines name the slowest files', async (t) => {
  const slow = "t.test('slow', async (t) => { await new Promise((r) => setTimeout(r, 300)); t.ok(true); });";
  const names = Array.from({ length: 6 }, (_, index) => `quick-${index}.test.ts`);
  const quick = Object.fromEntries(names.map((name) => [name, file(good)]));
  const { stdout } = runOn(t, { 'slow.test.ts': file(slow), ...quick });
  t.match(
    stdout,
    /\nThe slowest files:\n {2}\S+ s {2}test\/slow\.test\.ts\n(?: {2}\S+ s {2}test\/quick-\d\.test\.ts\n){4}\d+ passed/,
  );
});

t.test('a test that never ends fails the run', async (t) => {
  const source = file("t.test('bad', async () => { await new Promise(() => setInterval(() => {}, 50)); });");
  const { status, lastLine } = runOn(t, { 'bad.test.ts': source }, { timeoutSeconds: 5 });
  t.equal(status, 1);
  t.match(lastLine, /^0 passed, [1-9] failed$/);
});

t.test('a run without any test file fails', async (t) => {
  const { status, lastLine } = runOn(t, {}, { files: [] });
  t.equal(status, 1);
  t.equal(lastLine, '6 passed, 1 failed');
});

/** Listens to no SIGTERM, and notes its id in the name of a file. */
const deaf =
  "process.on('SIGTERM', () => {}); require('fs').writeFileSync('running-' + process.pid, ''); setInterval(() => {}, 50);";
const startsDeaf = file(
  "import { spawn } from 'node:child_process';",
  `spawn(process.execPath, ['-e', ${JSON.stringify(deaf)}], { stdio: 'ignore' });`,
  "t.test('bad', async () => { await new Promise(() => setInterval(() => {}, 50)); });",
);

/** Whether a process runs: one that is killed stays in the table until somebody has asked how it ended. */
function runs(id: string): boolean {
  const file = `/proc/${id}/stat`;
  return existsSync(file) && !/\) [ZX] /.test(readFileSync(file, 'utf8'));
}

for (const [what, tests, scripts] of [
  ['a test', { 'bad.test.ts': startsDeaf }, {}],
  ['a step', { 'good.test.ts': file(good) }, { types: `node -e ${JSON.stringify(deaf)}` }],
] as const) {
  t.test(`SIGTERM to a run ends what ${what} has started, even if that doesn't listen`, async (t) => {
    const { cwd, env } = projectOf(t, tests, scripts);
    const runner = spawn(process.execPath, ['test/run.ts'], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said = text(runner.stdout);
    const ids = () => readdirSync(cwd).flatMap((name) => /^running-(\d+)$/.exec(name)?.[1] ?? []);
    for (let tries = 0; ids().length === 0 && tries < 600; tries += 1) await pause(100);
    const closed = once(runner, 'close');
    runner.kill('SIGTERM');
    t.strictSame(await closed, [143, null]);
    t.match(await said, /\nSIGTERM: ending what runs\n[^]* failed\n$/);
    t.equal(ids().length, 1);
    for (const id of ids()) {
      for (let tries = 0; runs(id) && tries < 100; tries += 1) await pause(50);
      t.notOk(runs(id), 'it has ended');
    }
  });
}
