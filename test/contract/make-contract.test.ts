import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '..', '..');
/** This process is itself run by tap, and perhaps by make, which tell their children so. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^_?TAP|^NODE_OPTIONS$|^MAKE|^MFLAGS$/.test(name)),
);

function make(folder: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync('make', args, { cwd: folder, env, encoding: 'utf8' });
  return { status, stdout, stderr, lastLine: stdout.trimEnd().split('\n').at(-1) };
}

t.test('make contract runs the files of the suite, none of its helpers, and ends with counts', async (t) => {
  const passing = "import t from 'tap';\nt.test('it holds', async (t) => { t.ok(true); });\n";
  const hanging = 'setInterval(() => {}, 50);\n';
  const folder = t.testdir({
    'package.json': JSON.stringify({ type: 'module' }),
    'package-lock.json': '{}',
    '.taprc': 'type-strip-only: true\ndisable-coverage: true\ntimeout: 20\n',
    node_modules: t.fixture('symlink', join(root, 'node_modules')),
    test: {
      contract: {
        'suite-one.test.ts': passing,
        'suite-two.test.ts': passing.replace('true', 'false'),
        'other.test.ts': hanging,
        '_helper.ts': hanging,
      },
    },
  });
  // The lock file is older than the installed packages, so that make installs nothing.
  utimesSync(join(folder, 'package-lock.json'), 0, 0);
  for (const name of ['Makefile', 'test/run.ts', 'test/_tally.ts', 'test/_postgres.ts']) {
    copyFileSync(join(root, name), join(folder, name));
  }
  const { status, stdout, stderr, lastLine } = make(folder, 'contract');
  t.equal(lastLine, '1 passed, 1 failed', stderr);
  t.not(status, 0);
  t.match(stdout, 'passed  test/contract/suite-one.test.ts  1 passed, 0 failed');
  t.match(stdout, 'FAILED  test/contract/suite-two.test.ts  0 passed, 1 failed');
  t.notMatch(stdout, /other|_helper/);
});

t.test('the files of the suite ask the mock and the servers', async (t) => {
  const { stdout } = make(root, '--dry-run', '--old-file=node_modules/.package-lock.json', 'contract');
  const named = stdout.split(/\s+/).filter((word) => word.endsWith('.test.ts'));
  const folder = join(root, 'test', 'contract');
  const suite = readdirSync(folder).filter((name) => /^suite-.*\.test\.ts$/.test(name));
  t.strictSame(named.sort(), suite.map((name) => `test/contract/${name}`).sort());
  t.ok(suite.includes('suite-answers.test.ts'));
});
