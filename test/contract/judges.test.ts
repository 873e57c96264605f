import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';

import { root } from './_contract.ts';

/** Runs a tool of the development dependencies on the contract, at the top of the repository. */
function judge(tool: string, ...options: string[]): Record<string, unknown> {
  const { stdout } = spawnSync(fileURLToPath(new URL(`node_modules/.bin/${tool}`, root)), options, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' },
    maxBuffer: 64 * 1024 * 1024,
  });
  // A line of prose can stand before the JSON.
  return JSON.parse(stdout.slice(stdout.indexOf('{'))) as Record<string, unknown>;
}

/* `npm run lint:contract` holds the rules; these judges give marks. */

t.test('Redocly scores the contract for its integrators', async (t) => {
  const scoreOf = (file: string) =>
    Number(judge('redocly', 'score', file, '--format', 'json')['agentReadiness']);
  // Two points go to `anyOf`, which generators of clients read and a list of types they don't (test/interop/generators.test.ts).
  t.ok(scoreOf('generated/openapi.dereferenced.json') >= 91);
  // The same contract with its references scores lower by what "dependency clarity" takes off for every schema that
  // two operations share, which is what writing a schema once comes to.
  t.ok(scoreOf('generated/openapi.json') >= 89);
});
