/*
 * Builds the integrators' package (`make client`) as `generated/client.tgz`, which a server hands out at `/client.tgz`, and
 * beside it its bill of materials. The packages that it needs are in its files: installing it asks no registry.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';

import { build, type BuildOptions } from 'esbuild';

import { billOfMaterials, type Dependencies, lockFor, manifest as checkout } from './lock.ts';
import { compile, copyFile, pack, root, writeJson } from './packing.ts';

interface Manifest {
  name: string;
  license: string;
  exports: Record<string, string>;
  [member: string]: unknown;
}

const SOURCE = 'src/client';
const manifest = JSON.parse(readFileSync(join(root, SOURCE, 'package.json'), 'utf8')) as Manifest;
/** The modules that other programs may import. */
const modules = Object.values(manifest.exports).filter((path) => path.endsWith('.ts'));

/** Files that are handed out as they are. */
const FILES = [
  'README.md',
  'sync/README.md',
  'examples/receiver.ts',
  'examples/receiver.py',
  'supported-node.js',
];

/** @returns the bill of materials. */
async function stage(folder: string, released: string): Promise<object> {
  const bundled = [
    ...(await bundle(released, 'esm', modules)),
    ...(await bundle(released, 'bin', ['./main.ts'])),
  ];
  compile('types.tsconfig.json', join(released, 'dist/types'));
  copyFile('LICENSE', released);
  for (const path of FILES) copyFile(`${SOURCE}/${path}`, released, path);
  const command = readFileSync(join(root, SOURCE, 'fieldledger.js'), 'utf8');
  writeFileSync(join(released, 'fieldledger.js'), command.replace('./main.ts', './dist/bin/main.js'));
  const contract = readFileSync(join(root, 'generated/openapi.dereferenced.json'), 'utf8');
  mkdirSync(join(released, 'generated'));
  writeFileSync(join(released, 'generated/openapi.dereferenced.json'), JSON.stringify(JSON.parse(contract)));
  const { name, ...members } = manifest;
  const { version } = checkout;
  writeJson(join(released, 'package.json'), { name, version, ...members, exports: compiledExports() });
  copyLicences(released, bundled);
  return billOf(folder, { name, version, license: manifest.license, dependencies: importedOf(bundled) });
}

/**
 * Puts modules and all that they import into files below `dist`, as deep as the modules that read the contract are in `src`.
 * @returns the paths of what went in.
 */
async function bundle(released: string, name: string, entries: string[]): Promise<string[]> {
  const { metafile } = await build({
    ...BUNDLE,
    entryPoints: entries.map((path) => join(root, SOURCE, path)),
    outdir: join(released, 'dist', name),
    ...(name === 'bin' && { banner: { js: REQUIRE } }),
  });
  return Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
}

const BUNDLE = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  legalComments: 'none',
  metafile: true,
} as const satisfies BuildOptions;

/** Packages that aren't ECMAScript modules ask for Node's by `require`. */
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/** The modules under their compiled names, each with its types. */
function compiledExports(): Record<string, unknown> {
  const compiled = Object.entries(manifest.exports).map(([name, path]) => {
    const stem = path.replace(/\.ts$/, '');
    const types = `./dist/types/${SOURCE}/${stem.slice(2)}.d.ts`;
    return [name, stem === path ? path : { types, default: `./dist/esm/${basename(stem)}.js` }];
  });
  return Object.fromEntries(compiled) as Record<string, unknown>;
}

/** The packages that went into the files, by their folders in the checkout. */
function packagesIn(bundled: readonly string[]): string[] {
  const folders = bundled.flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? [],
  );
  return [...new Set(folders)].sort();
}

/** The packages that our own files import. */
function importedOf(bundled: readonly string[]): Dependencies {
  const ofCheckout = packagesIn(bundled).map((path) => path.slice('node_modules/'.length));
  return Object.fromEntries(
    Object.entries(checkout.dependencies).filter(([name]) => ofCheckout.includes(name)),
  );
}

/** Licences ask to be handed on with what they are about. */
function copyLicences(released: string, bundled: readonly string[]): void {
  const texts = packagesIn(bundled).flatMap((path) =>
    readdirSync(join(root, path))
      .filter((name) => /^(?:licen[cs]e|notice)/i.test(name))
      .map(
        (name) => `${path.slice('node_modules/'.length)}\n\n${readFileSync(join(root, path, name), 'utf8')}`,
      ),
  );
  writeFileSync(join(released, 'LICENSES-of-packages.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`));
}

function billOf(
  folder: string,
  described: { name: string; dependencies: Dependencies; [member: string]: unknown },
): object {
  const place = mkdtempSync(join(folder, 'bill-'));
  writeJson(join(place, 'package.json'), described);
  writeJson(join(place, 'package-lock.json'), lockFor(described));
  return billOfMaterials(place, described.name);
}

// Where nobody sees it before it is whole.
const folder = mkdtempSync(join(root, 'generated', 'client.'));
try {
  const released = join(folder, 'package');
  mkdirSync(released);
  const bill = await stage(folder, released);
  await pack(released, join(folder, 'client.tgz'));
  writeJson(join(folder, 'client.cdx.json'), bill);
  for (const name of ['client.cdx.json', 'client.tgz'])
    renameSync(join(folder, name), join(root, 'generated', name));
} finally {
  rmSync(folder, { recursive: true });
}
