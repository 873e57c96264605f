#!/usr/bin/env -S node --max-semi-space-size=8
/*
 * With the size above, V8 has 16 MB for what dies young, and not 64: a page takes a twentieth longer, and a server takes
 * up to 48 MB less. It can't be set once Node runs.
 *
 * The command `fieldledger`. It stays plain JavaScript that Node 12 can parse, because its first duty is to tell a
 * Node that is too old so in one sentence: such a Node would die on the first `.ts` file with an error about file
 * extensions, or with a segmentation fault inside better-sqlite3.
 */
import { readFileSync } from 'fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const required = engines.node.replace('>=', '');

function isOlder(version, than) {
  const [major, minor] = version.split('.').map(Number);
  const [majorMin, minorMin] = than.split('.').map(Number);
  return major < majorMin || (major === majorMin && minor < minorMin);
}

if (isOlder(process.versions.node, required)) {
  process.stderr.write(
    `fieldledger needs Node ${required} or newer, and this is Node ${process.versions.node}; ` +
      'in a clone, `npm ci` brings the right one as node_modules/.bin/node.\n',
  );
  process.exitCode = 1;
} else {
  // A rejection ends the process with its stack and exit code 1: whatever main() doesn't handle is a fault in it.
  import('./compile-cache.js')
    .then(({ keepCompiledCode }) => keepCompiledCode())
    .then(() => import('./main.ts'))
    .then(({ main }) => main(process.argv.slice(2)))
    .then((exitCode) => {
      process.exitCode = exitCode;
    });
}
