import { existsSync, lstatSync, mkdirSync, realpathSync } from 'fs';
import { enableCompileCache } from 'module';
import { homedir } from 'os';
import { basename, dirname, isAbsolute, join } from 'path';

/**
 * Keeps compiled code between runs, which halves the time that a start takes. A user who can write where it is kept has
 * his code run, so that it is kept where nobody but this user can, or not at all. It stays plain JavaScript because
 * the first TypeScript that is loaded takes the longest.
 * @returns {string | undefined} what is wrong with the folder that NODE_COMPILE_CACHE names, as a sentence. Node has
 * begun to use that one before any program runs.
 */
export function keepCompiledCode() {
  const named = process.env.NODE_COMPILE_CACHE;
  if (named) {
    return ownFolder(named) === undefined
      ? `NODE_COMPILE_CACHE names ${named}, which must be a folder of this user's that nobody else can change.`
      : undefined;
  }
  const caches = cachesFolder();
  const folder = caches && ownFolder(join(caches, 'fieldledger'));
  if (folder) enableCompileCache(folder);
  return undefined;
}

/** @returns {string | undefined} nothing for a user without a home: the environment names none, nor does the system. */
function cachesFolder() {
  const { XDG_CACHE_HOME: caches = '' } = process.env;
  if (isAbsolute(caches)) return caches;
  try {
    return join(homedir(), '.cache');
  } catch {
    return undefined;
  }
}

/**
 * @param {string} path of a folder, which is made if it isn't there.
 * @returns {string | undefined} the same without links, when it belongs to this user and others can change neither it
 * nor the way to it.
 */
function ownFolder(path) {
  try {
    const folder = realFolder(path);
    return folder !== undefined && lstatSync(folder).uid === process.getuid() ? folder : undefined;
  } catch {
    // It can't be made or looked at, or the system knows no owners.
    return undefined;
  }
}

/** As above, but it may also be the system's. */
function realFolder(path) {
  if (!existsSync(path)) {
    const parent = realFolder(dirname(path));
    if (parent === undefined) return undefined;
    const made = join(parent, basename(path));
    // Two that start at once may both find it missing.
    mkdirSync(made, { mode: 0o700, recursive: true });
    return made;
  }
  const folder = realpathSync(path);
  for (let part = folder; ; part = dirname(part)) {
    if (!isKept(part, part === folder)) return undefined;
    if (part === dirname(part)) return folder;
  }
}

/** Whether a folder is only this user's or root's to change. In a sticky one others can't touch what isn't theirs. */
function isKept(folder, isLast) {
  const { mode, uid } = lstatSync(folder);
  const isOpen = (mode & 0o022) !== 0 && ((mode & 0o1000) === 0 || isLast);
  return (uid === 0 || uid === process.getuid()) && !isOpen;
}
