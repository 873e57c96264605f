/*
 * Refuses an outdated Node with a one-sentence error, before loading any module that would fail less clearly. Node 12 and
 * later can parse this file. Bun and Deno report a Node version too, and are let through.
 */

/** The first version whose `node:sqlite` needs no flag (since 22.13) and opens files by URL (since 22.15). */
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
