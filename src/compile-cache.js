import { lstatSync, mkdirSync } from 'fs';
import { enableCompileCache } from 'module';
import { homedir } from 'os';
import { join } from 'path';

/**
 * Keeps compiled code between runs, which halves the time that a start takes, unless NODE_COMPILE_CACHE has Node do so. It
 * stays plain JavaScript because the first TypeScript that is loaded takes the longest.
 */
export function keepCompiledCode() {
  try {
    const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'fieldledger');
    mkdirSync(folder, { mode: 0o700, recursive: true });
    const { mode, uid } = lstatSync(folder);
    // A user who can write there has this one run their code.
    if (uid === process.getuid() && (mode & 0o022) === 0) enableCompileCache(folder);
  } catch {
    // The user has no home, or none that can be written.
  }
}
