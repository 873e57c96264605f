import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from './packing.ts';

/** Packages by their names, each with its version or a range of them. */
export type Dependencies = Record<string, string>;

/** A package as the lock file has it. */
interface Locked {
  dependencies?: Dependencies;
  optionalDependencies?: Dependencies;
  peerDependencies?: Dependencies;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  [member: string]: unknown;
}

/** The manifest of the checkout, which is the server's. */
export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  name: string;
  version: string;
  license: string;
  dependencies: Dependencies;
  devDependencies: { node: string };
  [member: string]: unknown;
};

/** The lock file, version 3: packages by their folders. */
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Locked>;
  [member: string]: unknown;
};

/**
 * A lock file for a package of the release: what it needs, in the very versions that this checkout was tested with.
 * @param released its manifest, with the packages that it needs itself.
 */
export function lockFor(released: { dependencies: Dependencies; [member: string]: unknown }) {
  const needed = new Set<string>();
  for (const name of Object.keys(released.dependencies)) addNeeded(name, '', needed);
  const packages: Record<string, object | undefined> = { '': released };
  for (const path of [...needed].sort()) packages[path] = lock.packages[path];
  return { ...lock, name: released['name'], packages };
}

/** Adds a package that one in a folder needs, and what that needs itself. npm looks for it there, and then further up. */
function addNeeded(name: string, folder: string, needed: Set<string>): void {
  const path = join(folder, 'node_modules', name);
  const found = lock.packages[path];
  if (!found) {
    // An optional one may be for other systems.
    if (folder !== '')
      addNeeded(name, folder.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, ''), needed);
    return;
  }
  if (needed.has(path)) return;
  needed.add(path);
  const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta = {} } = found;
  const peers = Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta[peer]?.optional);
  for (const next of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers])
    addNeeded(next, path, needed);
}

/** What `npm sbom` writes, as far as it is looked into (CycloneDX 1.5). */
export interface Bill {
  metadata: { component: { name: string }; [member: string]: unknown };
  components: object[];
  [member: string]: unknown;
}

/**
 * The bill of materials of a package: what it is made of, with licences and digests (CycloneDX). It leaves out what differs
 * each time that npm writes it.
 * @param folder with the manifest and a lock file.
 */
export function billOfMaterials(folder: string, name: string): Bill {
  const options = ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx'];
  const text = execFileSync('npm', options, { cwd: folder, encoding: 'utf8' });
  const bill = JSON.parse(text) as Bill;
  for (const [part, member] of [
    [bill, 'serialNumber'],
    [bill.metadata, 'timestamp'],
    [bill.metadata, 'tools'],
  ] as const)
    Reflect.deleteProperty(part, member);
  // npm takes the folder's name for the package's.
  bill.metadata.component.name = name;
  return bill;
}
