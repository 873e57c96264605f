import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '..');
/** Everything that `npm run generate` reads. */
const inputs = [
  'package.json',
  '.redocly.yaml',
  '.redocly.feed.yaml',
  '.redocly.feed.js',
  'openapi.yaml',
  'webhooks.yaml',
  'src/server/backoffice/feed.yaml',
];
/** Built from the same files by `make docs` and `make client`, and not committed, or recorded from the demo. */
const others = /^(?:(?:feed-)?reference\.html|client\.|recorded-day)/;

t.test('generated/ holds what the contract generates, and nothing else', async (t) => {
  const folder = t.testdir({ node_modules: t.fixture('symlink', join(root, 'node_modules')), generated: {} });
  for (const name of inputs) cpSync(join(root, name), join(folder, name));
  const { status, stderr } = spawnSync('npm', ['run', '--silent', 'generate'], {
    cwd: folder,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    encoding: 'utf8',
  });
  t.equal(status, 0, stderr);

  const listOf = (path: string) => readdirSync(path).filter((name) => !others.test(name));
  t.strictSame(listOf(join(root, 'generated')), listOf(join(folder, 'generated')));
  for (const name of listOf(join(folder, 'generated'))) {
    const fresh = readFileSync(join(folder, 'generated', name), 'utf8');
    // Compared as a truth value: a difference between megabytes is no message; `make generate` shows it in git.
    t.ok(
      fresh === readFileSync(join(root, 'generated', name), 'utf8'),
      `${name} is what "make generate" writes`,
    );
  }
});
