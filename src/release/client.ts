/*
 * Builds the integrators' package as `generated/client.tgz`, which a server serves at `/client.tgz` (`make client`). Its
 * dependencies are bundled, so that installing it needs no registry.
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

import { build } from 'esbuild';

import { compile, copyFile, pack, root, writeJson } from './packing.ts';

const SOURCE = 'src/client';
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const { name, ...manifest } = JSON.parse(readFileSync(join(root, SOURCE, 'package.json'), 'utf8')) as {
  name: string;
  exports: Record<string, string>;
};

const FILES = [
  'README.md',
  'sync/README.md',
  'examples/receiver.ts',
  'examples/receiver.py',
  'supported-node.js',
];

/** Code that defines `require`, with which bundled CommonJS packages load Node's modules. */
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

if (import.meta.main) await buildClient();

/** Builds the integrators' npm package. @returns the folders of the npm packages bundled into it. */
export async function buildClient(): Promise<string[]> {
  // Written beside its final place, and moved there when complete.
  const folder = mkdtempSync(join(root, 'generated', 'client.'));
  try {
    const released = join(folder, 'package');
    mkdirSync(join(released, 'generated'), { recursive: true });
    const modules = Object.values(manifest.exports).filter((path) => path.endsWith('.ts'));
    const packages = new Set([
      ...(await bundle(modules, join(released, 'dist/esm'))),
      ...(await bundle(['./main.ts'], join(released, 'dist/bin'), REQUIRE)),
    ]);
    stage(released, [...packages].sort());
    await pack(released, join(folder, 'client.tgz'));
    renameSync(join(folder, 'client.tgz'), join(root, 'generated', 'client.tgz'));
    return [...packages];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Bundles modules and all their imports into a folder. It must be as deep as the modules in `src` that read the contract and
 * the version.
 * @returns the folders of the npm packages in the bundle.
 */
async function bundle(entries: readonly string[], outdir: string, banner = ''): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries.map((path) => join(root, SOURCE, path)),
    outdir,
    banner: { js: banner },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    legalComments: 'none',
    metafile: true,
  });
  const paths = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  return paths.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []);
}

/** Adds everything except the bundled code to the package. */
function stage(released: string, packages: readonly string[]): void {
  compile('types.tsconfig.json', join(released, 'dist/types'));
  copyFile('LICENSE', released);
  for (const path of FILES) copyFile(`${SOURCE}/${path}`, released, path);
  for (const name of readdirSync(join(root, 'src/examples')))
    copyFile(`src/examples/${name}`, released, `examples/${name}`);
  const command = readFileSync(join(root, SOURCE, 'fieldledger.js'), 'utf8');
  writeFileSync(join(released, 'fieldledger.js'), command.replace('./main.ts', './dist/bin/main.js'));
  const contract = readFileSync(join(root, 'generated/openapi.dereferenced.json'), 'utf8');
  writeFileSync(join(released, 'generated/openapi.dereferenced.json'), JSON.stringify(JSON.parse(contract)));
  writeJson(join(released, 'package.json'), { name, version, ...manifest, exports: compiledExports() });
  // Most licences must be distributed with the code.
  const licences = packages.flatMap((path) =>
    readdirSync(join(root, path))
      .filter((file) => /^(?:licen[cs]e|notice)/i.test(file))
      .map(
        (file) => `${path.replace('node_modules/', '')}\n\n${readFileSync(join(root, path, file), 'utf8')}`,
      ),
  );
  writeFileSync(join(released, 'LICENSES-of-packages.txt'), licences.join(`\n${'-'.repeat(80)}\n\n`));
}

/** Returns the package's `exports`: the compiled file of each public module, with its types. */
function compiledExports(): Record<string, unknown> {
  const compiled = Object.entries(manifest.exports).map(([as, path]) => {
    const stem = path.replace(/\.ts$/, '');
    const types = `./dist/types/${SOURCE}/${stem.slice(2)}.d.ts`;
    return [as, stem === path ? path : { types, default: `./dist/esm/${basename(stem)}.js` }];
  });
  return Object.fromEntries(compiled) as Record<string, unknown>;
}
