import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import t from 'tap';

import { root } from '../contract/_contract.ts';
import { programOf } from './_installed.ts';

const run = promisify(execFile);

t.test('the IBM validator scores the contract at 60 or more, with every rule of its own', async (t) => {
  const options = ['--json', '--summary-only', '--impact-score', '--ruleset=default'];
  const file = fileURLToPath(new URL('generated/openapi.json', root));
  const args = [programOf('lint-openapi'), ...options, file];
  // It has findings, so it ends with 1.
  const { stdout } = await run(process.execPath, args).catch((error: unknown) => error as { stdout: string });
  // A line of prose can stand before the JSON.
  const { impactScore } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
    impactScore?: { categorizedSummary?: { overall?: number } };
  };
  const { overall = 0 } = impactScore?.categorizedSummary ?? {};
  t.ok(overall >= 60, JSON.stringify(impactScore?.categorizedSummary));
});

t.test(
  "the types of the integrators' package are found, and are right, wherever it is imported",
  async (t) => {
    const file = fileURLToPath(new URL('generated/client.tgz', root));
    t.match(await run(programOf('publint'), ['run', file, '--strict']), { stdout: /All good!/ });
    // The package has modules of ECMAScript and nothing else, as Node, Bun, Deno and bundlers import them.
    const said = await run(programOf('attw'), [file, '--profile', 'esm-only']);
    t.match(said, { stdout: /@fieldledger\/client/ });
  },
);
