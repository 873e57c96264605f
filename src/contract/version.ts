import { readFileSync } from 'node:fs';

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

/** The version of this release, X.Y.Z as semver.org has it. */
export const { version } = JSON.parse(manifest) as { version: string };
