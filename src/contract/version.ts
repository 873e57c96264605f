import { readFileSync } from 'node:fs';

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

/** Version of this release, X.Y.Z as defined by semver.org. */
export const { version } = JSON.parse(manifest) as { version: string };
