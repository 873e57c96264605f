/*
 * Writes into the contract with which versions of the generators `make interop` has passed, and when. A contract that is
 * released stays as it is.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { version } from '../../src/contract/version.ts';

const GENERATORS = ['openapi-typescript', 'openapi-fetch', '@hey-api/openapi-ts', 'orval', '@kubb/core'];
const SENTENCE = /The first line is tested on every release[^\n]*?\.(?= With each of the others)/;

const root = join(import.meta.dirname, '..', '..');
const contract = join(root, 'openapi.yaml');
if (!existsSync(join(root, 'test', 'contract', 'released', version))) {
  const text = readFileSync(contract, 'utf8');
  if (!SENTENCE.test(text)) throw new Error('openapi.yaml says nowhere that the first line is tested.');
  const { devDependencies } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const day = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
  const versions = GENERATORS.map((name) => `${name.replace('@kubb/core', 'kubb')} ${devDependencies[name]}`);
  const list = `${versions.slice(0, -1).join(', ')} and ${versions.at(-1)}`;
  const sentence = `The first line is tested on every release. Last run: ${day}, with ${list}.`;
  writeFileSync(contract, text.replace(SENTENCE, sentence));
}
