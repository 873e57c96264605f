// Long: it builds a release and installs it, and asks of it only what a checkout can't show.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { rm } from 'node:fs/promises';
import got from 'got';
import t from 'tap';
import type { Test } from 'tap';
import ts from 'typescript';

import { version } from '../src/contract/version.ts';
import { listen } from './client/_service.ts';
import { openWorkplace, type Served, type Workplace } from './_command.ts';
import { testFirstHour } from './_first-hour.ts';
import { testInstalledClient } from './_installed-client.ts';
import { referenceFile } from './_reference.ts';
import { Visitor } from './server/portal/_portal.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'fieldledger-release-'));
t.teardown(() => rm(folder, { recursive: true }));
referenceFile();
const released = join(folder, 'release');
execFileSync(process.execPath, [join(root, 'src', 'release', 'build.ts'), released], { stdio: 'ignore' });

/** A release in a place without the checkout's packages in reach. */
interface Installed {
  program: string;
  /** The folders in which it finds programs: Node, or nothing at all. */
  path: string;
  packageFolder: string;
}

function installPackage(): Installed {
  const prefix = join(folder, 'npm');
  const file = join(released, `fieldledger-server-${version}.tgz`);
  const args = ['install', '--global', '--prefer-offline', '--prefix', prefix, file];
  execFileSync('npm', args, { cwd: folder, stdio: 'pipe' });
  return {
    program: join(prefix, 'bin', 'fieldledger'),
    path: [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
    packageFolder: join(prefix, 'lib', 'node_modules', '@fieldledger', 'server'),
  };
}

function unpackArchive(): Installed {
  const name = `fieldledger-${version}-linux-x64`;
  execFileSync('tar', ['-xzf', join(released, `${name}.tar.gz`)], { cwd: folder });
  const packageFolder = join(folder, name);
  return { program: join(packageFolder, 'bin', 'fieldledger'), path: '/nonexistent', packageFolder };
}

/** Opens a workplace for a release that holds what it needs, and nothing else. */
async function openInstalled(t: Test, { packageFolder, ...installed }: Installed): Promise<Workplace> {
  t.strictSame(foreignFiles(packageFolder), [], 'it holds nothing that only a checkout needs');
  t.strictSame(importedBy(join(packageFolder, 'src')), declaredBy(packageFolder), 'it has what it needs');
  const workplace = await openWorkplace('sqlite', { isEmpty: true, ...installed });
  t.teardown(() => workplace[Symbol.asyncDispose]());
  t.strictSame(await workplace.run(['--version']), { exitCode: 0, stdout: `${version}\n`, stderr: '' });
  return workplace;
}

t.test('the archive for arm64 would have the Node that this release was tested with', async (t) => {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    devDependencies: { node: string };
  };
  t.equal(`v${devDependencies.node}`, process.version, 'another one needs another digest in build.ts');
});

t.test('the archive for Linux does what a checkout does', async (t) => {
  const workplace = await openInstalled(t, unpackArchive());
  await testCommands(t, workplace);
  await testServer(t, await serveDemo(workplace));
});

t.test('the npm package does too, its scripts apart, of which it has none', async (t) => {
  const installed = installPackage();
  const workplace = await openInstalled(t, installed);
  const served = await serveDemo(workplace);
  await testServer(t, served);
  await testTools(t, workplace, served);
  const { packageFolder } = installed;
  const { status, stderr } = spawnSync('npm', ['ls', '--omit=dev'], { cwd: packageFolder, encoding: 'utf8' });
  t.strictSame({ status, stderr }, { status: 0, stderr: '' }, 'npm finds nothing wrong with it');
  t.notMatch(readFileSync(join(packageFolder, 'npm-shrinkwrap.json'), 'utf8'), /"hasInstallScript"/);

  await t.test(
    'it hands out the integrators’ package, with which the first hour goes as the reference tells',
    async (t) => {
      const desk = join(folder, 'desk');
      await installClient(t, desk, served);
      await testInstalledClient(t, desk);
      await testFirstHour(t, desk, served);
    },
  );
  t.strictSame(await served.end('SIGTERM'), { exitCode: 0, signal: null });
});

t.test('what a release says of its files is true', async (t) => {
  const page = readFileSync(join(root, 'src', 'server', 'operating', 'README.md'), 'utf8');
  const commands = [...page.matchAll(/^ {4}((?:sha256sum|node -p) .*)$/gm)].map(
    ([, command = '']) => command,
  );
  t.equal(commands.length, 2);
  const said = commands.map((command) =>
    execFileSync('sh', ['-c', command], { cwd: released, encoding: 'utf8' }),
  );
  t.equal(said[0]?.match(/: OK$/gm)?.length, readdirSync(released).length - 1);
  t.match(said[1], /^better-sqlite3 \d/m);
  const bill = readFileSync(join(released, `fieldledger-client-${version}.cdx.json`), 'utf8');
  t.match(bill, '"bom-ref": "@modelcontextprotocol/server@');
});

/** Installs the package from the server into an empty folder, where npm can reach no registry. */
async function installClient(t: Test, desk: string, { greeting }: Served): Promise<void> {
  const url = `${greeting.address}/client-${version}.tgz`;
  const { headers, rawBody } = await got(url, {
    responseType: 'buffer',
    headers: { 'accept-encoding': 'gzip' },
  });
  t.match(headers, { 'content-type': 'application/gzip', 'cache-control': 'no-cache' });
  t.equal(headers['content-encoding'], undefined);
  t.match(headers['content-disposition'], `filename="fieldledger-client-${version}.tgz"`);
  t.ok(readFileSync(join(released, `fieldledger-client-${version}.tgz`)).equals(rawBody));
  const newest = await got(`${greeting.address}/client.tgz`, { responseType: 'buffer' });
  t.ok(Buffer.from(rawBody).equals(newest.rawBody), 'the newest');
  t.equal((await got(url, { headers: { 'if-none-match': headers.etag } })).statusCode, 304);
  mkdirSync(desk);
  const env = { PATH: process.env.PATH, HOME: desk, npm_config_registry: 'http://127.0.0.1:9' };
  execFileSync('npm', ['install', url], { cwd: desk, env, stdio: 'pipe' });
  const packageFolder = join(desk, 'node_modules', '@fieldledger', 'client');
  t.strictSame(readdirSync(join(desk, 'node_modules')), ['.bin', '.package-lock.json', '@fieldledger']);
  const files = readdirSync(packageFolder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  t.ok(bytes < 5_000_000, `${bytes} bytes`);
  t.strictSame(importedBy(packageFolder), declaredBy(packageFolder));
  const manifest = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as Record<
    string,
    object
  >;
  t.match(manifest, { version, engines: { node: '>=22.15' }, scripts: undefined });
  t.match(readFileSync(join(packageFolder, 'supported-node.js'), 'utf8'), "MINIMUM = '22.15'");
}

/** The packages that the programs of a folder import, or load by their names. */
function importedBy(packageFolder: string): string[] {
  const names = readdirSync(packageFolder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js') && !path.startsWith('node_modules'))
    .flatMap((path) => {
      const text = readFileSync(join(packageFolder, path), 'utf8');
      const loaded = [...text.matchAll(/\b(?:load|family|import\.meta\.resolve)\(['`]([^'`$]+)/g)];
      const { importedFiles } = ts.preProcessFile(text, true, true);
      return [...importedFiles.map(({ fileName }) => fileName), ...loaded.map(([, name = '']) => name)];
    })
    .filter((name) => !name.startsWith('.') && !isBuiltin(name));
  return [...new Set(names.map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/')))].sort();
}

function declaredBy(packageFolder: string): string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  return Object.keys(dependencies).sort();
}

/** TypeScript and tests: a server shouldn't hold them. */
function foreignFiles(packageFolder: string): string[] {
  return readdirSync(packageFolder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => !path.startsWith('node_modules') && (path.endsWith('.ts') || /^test\b/.test(path)),
  );
}

/** The commands of the README's page for operators. */
async function testCommands(t: Test, { run }: Workplace): Promise<void> {
  for (const [args, expected] of [
    [['migrate'], /./],
    [['company', 'create', 'acme', '--name', 'Acme Plumbing', '--api', '--invoicing'], /./],
    [
      ['admin', 'create', 'acme', 'jane@acme.example', '--scopes', 'all', '--invite'],
      /\/portal\/invitation#[\w-]+\.[\w-]{43}\n$/,
    ],
    [['key', 'create', 'acme', '--scopes', 'jobs:read,invoices:read'], /fl\.acme\./],
    [['numbering', 'set', 'acme', 'invoice', '--last', '1041'], /./],
    [['demo', '--records', '200'], /./],
  ] as const) {
    const { exitCode, stdout, stderr } = await run(args);
    t.equal(exitCode, 0, `fieldledger ${args.join(' ')}: ${stderr}`);
    t.match(stdout, expected);
  }
}

const serveDemo = ({ serve }: Workplace) => serve(['--demo'], { DATABASE_URL: 'sqlite:demo.db' });

/** What takes more than code: a document with the processes that print it, the references, and the metrics. */
async function testServer(t: Test, served: Served): Promise<void> {
  const { address, management, demo } = served.greeting;
  const headers = { authorization: `Bearer ${demo?.key}` };
  const { data } = await got(`${address}/api/v1/invoices?status=issued`, { headers }).json<{
    data: [{ id: string }];
  }>();
  const pdf = await got(`${address}/api/v1/invoices/${data[0].id}/pdf`, { headers }).buffer();
  t.equal(Buffer.from(pdf.subarray(0, 8)).toString('latin1'), '%PDF-1.7');
  t.match(await got(`${address}/reference`).text(), new RegExp(`"version":"${version}"`));
  t.match(await got(`${address}/feed-reference`).text(), new RegExp(`"version":"${version}"`));
  t.match(await got(`${address}/llms.txt`).text(), `${address}/reference.md`);
  t.match(await got(`${management}/metrics`).text(), `fieldledger_build_info{version="${version}"} 1`);
  t.match(served.logs()[0], { msg: 'server.started', version });
}

/** The portal, the tools of a model, and a webhook's sample. */
async function testTools(t: Test, workplace: Workplace, { greeting }: Served): Promise<void> {
  const { address, demo, portal } = greeting;
  writeFileSync(join(workplace.folder, 'key.txt'), `${demo?.key}\n`);
  // The input is empty: it ends once it has loaded all that it needs.
  const mcp = await workplace.run(['mcp', '--url', address, '--key-file', 'key.txt']);
  t.strictSame(mcp, { exitCode: 0, stdout: '', stderr: '' });

  const visitor = new Visitor(address);
  await visitor.useLink(portal ?? '', 'copper kettles whistle softly');
  t.equal((await visitor.visit('/portal')).statusCode, 200, 'the link of the start leads into the portal');

  const { url } = await listen(t, (_req, res) => res.end());
  const sample = await workplace.run(['webhook', 'sample', 'job.completed', '--to', `${url}/in`]);
  t.match(sample, { exitCode: 0, stdout: /delivered/ });
}
