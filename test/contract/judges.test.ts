import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';

import { root } from './_contract.ts';

/** Runs a tool of the development dependencies on the contract, at the top of the repository. */
function judge(
  tool: string,
  ...options: string[]
): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(fileURLToPath(new URL(`node_modules/.bin/${tool}`, root)), options, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' },
    maxBuffer: 64 * 1024 * 1024,
  });
}

/** The JSON object in what a tool prints, which can have a line of prose before it. */
function jsonIn(text: string): Record<string, unknown> {
  return JSON.parse(text.slice(text.indexOf('{'))) as Record<string, unknown>;
}

t.test('Redocly finds no problem under its strictest rules', async (t) => {
  for (const file of ['openapi.yaml', 'webhooks.yaml', 'generated/openapi.json']) {
    const { status, stdout } = judge('redocly', 'lint', file, '--config', '.redocly.yaml', '--format=json');
    t.equal(status, 0, file);
    t.match(jsonIn(stdout), { totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] }, file);
  }
});

t.test('Redocly scores the contract for its integrators', async (t) => {
  const scoreOf = (file: string) =>
    Number(jsonIn(judge('redocly', 'score', file, '--format', 'json').stdout)['agentReadiness']);
  // Two points go to `anyOf`, which generators of clients read and a list of types they don't (generators.test.ts).
  t.ok(scoreOf('generated/openapi.dereferenced.json') >= 91);
  // The same contract with its references scores lower by what "dependency clarity" takes off for every schema that
  // two operations share, which is what writing a schema once comes to.
  t.ok(scoreOf('generated/openapi.json') >= 89);
});

t.test('Spectral finds nothing under the rules of OpenAPI and of OWASP', async (t) => {
  const { status, stdout, stderr } = judge(
    'spectral',
    'lint',
    'generated/openapi.json',
    '--ruleset=.spectral.yaml',
    '--format=json',
    '--fail-severity=hint',
  );
  t.equal(status, 0, stderr);
  t.match(stdout, /^\[\]/);
});

t.test('the IBM validator scores the contract at 60 or more, with every rule of its own', async (t) => {
  const { stdout } = judge(
    'lint-openapi',
    '--json',
    '--summary-only',
    '--impact-score',
    '--ruleset=default',
    'generated/openapi.json',
  );
  const { impactScore } = jsonIn(stdout) as { impactScore?: { categorizedSummary?: { overall?: number } } };
  t.ok(
    (impactScore?.categorizedSummary?.overall ?? 0) >= 60,
    JSON.stringify(impactScore?.categorizedSummary),
  );
});
