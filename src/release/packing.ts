import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { create } from 'tar';

export const root = join(import.meta.dirname, '..', '..');

/** Files in a release that must be executable. */
const PROGRAMS = ['bin/node', 'bin/fieldledger', 'src/fieldledger.js', 'fieldledger.js'];

/**
 * Packs a folder into an archive, under its own name. The same files give the same bytes: entries are sorted by name, and
 * have no times, owners or umask.
 */
export async function pack(folder: string, file: string): Promise<void> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  for (const path of paths) chmodSync(join(folder, path), PROGRAMS.includes(path) ? 0o755 : 0o644);
  await create(
    { file, cwd: dirname(folder), gzip: { level: 6 }, portable: true, mtime: new Date(0) },
    paths.map((path) => join(basename(folder), path)),
  );
}

/** Copies a file of the checkout into a folder, under its own path unless another is named. */
export function copyFile(path: string, folder: string, as = path): void {
  mkdirSync(dirname(join(folder, as)), { recursive: true });
  copyFileSync(join(root, path), join(folder, as));
}

export function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** Compiles with a configuration from this folder. It doesn't check the types, which `make types` has done. */
export function compile(config: string, folder: string): void {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = ['-p', join(import.meta.dirname, config), '--outDir', folder, '--noCheck'];
  execFileSync(process.execPath, [tsc, ...options], { stdio: 'inherit' });
  // The compiler rewrites `.ts` imports in code, but not in declarations.
  for (const path of globSync('**/*.d.ts', { cwd: folder })) {
    const text = readFileSync(join(folder, path), 'utf8');
    writeFileSync(join(folder, path), text.replaceAll(/(?<=['"]\.{1,2}\/[^'"\n]*)\.ts(?=['"])/g, '.js'));
  }
}
