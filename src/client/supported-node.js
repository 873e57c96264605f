/*
 * Refuses a Node that is too old in one sentence, before anything is loaded in which it would fail less plainly. Every Node
 * from 12 on can parse it. Bun and Deno name a version of Node too, and are let through.
 */

/** Has `node:sqlite` without a flag (since 22.13), which opens files by their addresses (since 22.15). */
const MINIMUM = '22.15';

const { process, Bun, Deno } = globalThis;
const version = process && process.versions && process.versions.node;

function isOlder(than) {
  const [major, minor] = version.split('.').map(Number);
  const [majorMin, minorMin] = than.split('.').map(Number);
  return major < majorMin || (major === majorMin && minor < minorMin);
}

if (version && !Bun && !Deno && isOlder(MINIMUM))
  throw new Error(`@fieldledger/client needs Node ${MINIMUM} or newer, and this is Node ${version}.`);
