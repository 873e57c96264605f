import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

import t from 'tap';

const root = join(import.meta.dirname, '..');
const bin = join(root, 'src', 'fieldledger.js');

function run(node: string, ...options: string[]) {
  const { status, stdout, stderr } = spawnSync(node, [...options, bin, '--help'], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** Loaded before the command, makes this Node answer another version. */
function preloadVersion(version: string): string {
  const source = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`;
  return `--import=data:text/javascript,${encodeURIComponent(source)}`;
}

function refusalBy(version: string) {
  return {
    status: 1,
    stdout: '',
    stderr: `fieldledger needs Node 24.18 or newer, and this is Node ${version}; in a clone, \`npm ci\` brings the right one as node_modules/.bin/node.\n`,
  };
}

/** The first Node on the path that isn't the pinned one and is too old for us; machines differ in having one. */
function findOldNode(): { path: string; version: string } | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, 'node');
    if (!existsSync(path)) continue;
    const version = execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim();
    if (Number(version.split('.')[0]) < 24) return { path, version };
  }
  return undefined;
}

t.test('an older Node is refused with one sentence', async (t) => {
  for (const version of ['12.22.12', '24.17.9']) {
    t.strictSame(run(process.execPath, preloadVersion(version)), refusalBy(version), version);
  }
});

t.test('a newer Node is served: help goes to stdout, without a warning on stderr', async (t) => {
  for (const version of ['24.18.0', '100.1.0'])
    t.match(run(process.execPath, preloadVersion(version)), {
      status: 0,
      stdout: /Usage: fieldledger/,
      stderr: /^$/,
    });
});

const oldNode = findOldNode();
t.test(
  'a real old Node prints the same sentence',
  { skip: oldNode === undefined && 'every Node on this machine is new enough' },
  async (t) => {
    if (oldNode === undefined) return;
    t.strictSame(run(oldNode.path), refusalBy(oldNode.version));
  },
);

t.test('the integrators’ package refuses an older Node too, by its command and by each import', async (t) => {
  const sentence = '@fieldledger/client needs Node 22.15 or newer, and this is Node 22.14.0.';
  const command = join(root, 'src', 'client', 'fieldledger.js');
  const refused = spawnSync(process.execPath, [preloadVersion('22.14.0'), command], { encoding: 'utf8' });
  t.match(refused, { status: 1, stdout: '', stderr: `fieldledger: ${sentence}\n` });
  const modules = ['index.ts', 'sync/sync.ts', 'sync/sqlite.ts', 'sync/json-lines.ts'];
  const urls = modules.map((path) => pathToFileURL(join(root, 'src', 'client', path)).href);
  const importing = `for (const url of ${JSON.stringify(urls)})
    await import(url).then(() => console.log('imported'), (error) => console.log(String(error)));`;
  for (const [version, outcome] of [
    ['22.14.0', `Error: ${sentence}\n`],
    ['22.15.0', 'imported\n'],
  ] as const) {
    const args = [preloadVersion(version), '--input-type=module', '--eval', importing];
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    t.equal(stdout, outcome.repeat(modules.length), version);
  }
});
