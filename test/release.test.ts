import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { rm } from 'node:fs/promises';
import got from 'got';
import t from 'tap';
import type { Test } from 'tap';

import { version } from '../src/contract/version.ts';
import { openWorkplace, type Workplace } from './_command.ts';
import { testFirstHour } from './_first-hour.ts';
import { testInstalledClient, testPackage } from './_installed-client.ts';
import { referenceFile } from './_reference.ts';
import { Visitor } from './server/portal/_portal.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'fieldledger-release-'));
t.teardown(() => rm(folder, { recursive: true }));
referenceFile();
execFileSync(process.execPath, [join(root, 'src', 'release', 'build.ts'), join(folder, 'release')]);

/** A place without the checkout's packages in reach, in which a release has been installed. */
interface Installed {
  program: string;
  /** The folders in which it finds programs: Node, or nothing at all. */
  path: string;
  packageFolder: string;
}

function installPackage(): Installed {
  const prefix = join(folder, 'npm');
  const file = join(folder, 'release', `fieldledger-${version}.tgz`);
  execFileSync('npm', ['install', '--global', '--prefer-offline', '--prefix', prefix, file], {
    cwd: folder,
    stdio: 'pipe',
  });
  const path = [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  return {
    program: join(prefix, 'bin', 'fieldledger'),
    path,
    packageFolder: join(prefix, 'lib', 'node_modules', 'fieldledger'),
  };
}

function unpackArchive(): Installed {
  const name = `fieldledger-${version}-linux-x64`;
  execFileSync('tar', ['-xzf', join(folder, 'release', `${name}.tar.gz`)], { cwd: folder });
  const packageFolder = join(folder, name);
  return { program: join(packageFolder, 'bin', 'fieldledger'), path: '/nonexistent', packageFolder };
}

t.test('the archive for arm64 would have the Node that this release was tested with', async (t) => {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    devDependencies: { node: string };
  };
  t.equal(`v${devDependencies.node}`, process.version, 'another one needs another digest in build.ts');
});

for (const [name, install] of [
  ['the npm package', installPackage],
  ['the archive for Linux', unpackArchive],
] as const) {
  t.test(`${name} does what a checkout does`, async (t) => {
    const { packageFolder, ...installed } = install();
    t.strictSame(foreignFiles(packageFolder), [], 'it holds nothing that only a checkout needs');
    const examples = readdirSync(join(packageFolder, 'src', 'client', 'examples'));
    t.strictSame(examples.sort(), ['receiver.py', 'receiver.ts'], 'the examples can be copied');
    await using workplace = await openWorkplace('sqlite', { isEmpty: true, ...installed });
    await testCommands(t, workplace);
    await testServer(t, workplace);
  });
}

t.test('npm finds nothing wrong with the package, and runs no script of it', async (t) => {
  const packageFolder = join(folder, 'npm', 'lib', 'node_modules', 'fieldledger');
  const { status, stderr } = spawnSync('npm', ['ls', '--omit=dev'], { cwd: packageFolder, encoding: 'utf8' });
  t.strictSame({ status, stderr }, { status: 0, stderr: '' });
  const lock = readFileSync(join(packageFolder, 'npm-shrinkwrap.json'), 'utf8');
  t.notMatch(lock, /"hasInstallScript"/);
});

t.test('an integrator’s program has types, runs, and no judge finds fault with the package', async (t) => {
  await testInstalledClient(t, join(folder, 'npm', 'lib'));
  await testPackage(t, join(folder, 'release', `fieldledger-${version}.tgz`));
});

t.test('the first hour of an integrator goes as the reference tells it', async (t) => {
  const prefix = join(folder, 'npm');
  const program = join(prefix, 'bin', 'fieldledger');
  await using workplace = await openWorkplace('sqlite', { isEmpty: true, program });
  await testFirstHour(t, prefix, await workplace.serve(['--demo']));
});

/** TypeScript that is neither the client's types nor an example to copy, and tests: a release shouldn't hold them. */
function foreignFiles(packageFolder: string): string[] {
  return readdirSync(packageFolder, { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      !/^(node_modules|src\/client\/examples\/)/.test(path) &&
      (/(?<!\.d)\.ts$/.test(path) || /^test\b/.test(path)),
  );
}

/** The commands of the README's page for operators. */
async function testCommands(t: Test, { run }: Workplace): Promise<void> {
  t.strictSame(await run(['--version']), { exitCode: 0, stdout: `${version}\n`, stderr: '' });
  for (const [args, expected] of [
    [['migrate'], /./],
    [['company', 'create', 'acme', '--name', 'Acme Plumbing', '--api', '--invoicing'], /./],
    [['admin', 'create', 'acme', 'jane@acme.example'], /\/portal\/invitation#[\w-]{43}\n$/],
    [['key', 'create', 'acme', '--scopes', 'jobs:read,invoices:read'], /fl\.acme\./],
    [['numbering', 'set', 'acme', 'invoice', '--last', '1041'], /./],
    [['demo', '--records', '200'], /./],
  ] as const) {
    const { exitCode, stdout, stderr } = await run(args);
    t.equal(exitCode, 0, `fieldledger ${args.join(' ')}: ${stderr}`);
    t.match(stdout, expected);
  }
}

/** The demo, a document with the processes that print it, the portal, the metrics, and a webhook's sample. */
async function testServer(t: Test, workplace: Workplace): Promise<void> {
  const served = await workplace.serve(['--demo'], { DATABASE_URL: 'sqlite:demo.db' });
  const { address, management, demo, portal } = served.greeting;
  const headers = { authorization: `Bearer ${demo?.key}` };
  const { data } = await got(`${address}/api/v1/invoices?status=issued`, { headers }).json<{
    data: [{ id: string }];
  }>();
  const pdf = await got(`${address}/api/v1/invoices/${data[0].id}/pdf`, { headers }).buffer();
  t.equal(Buffer.from(pdf.subarray(0, 8)).toString('latin1'), '%PDF-1.7');
  t.match(await got(`${address}/reference`).text(), new RegExp(`"version":"${version}"`));
  t.match(await got(`${address}/llms.txt`).text(), `${address}/reference.md`);
  writeFileSync(join(workplace.folder, 'key.txt'), `${demo?.key}\n`);
  // The input is empty: it ends once it has loaded all that it needs.
  const mcp = await workplace.run(['mcp', '--url', address, '--key-file', 'key.txt']);
  t.strictSame(mcp, { exitCode: 0, stdout: '', stderr: '' });
  t.match(await got(`${management}/metrics`).text(), `fieldledger_build_info{version="${version}"} 1`);

  const visitor = new Visitor(address);
  await visitor.visit('/portal/invitation');
  await visitor.submit('/portal/invitation', { code: portal ?? '' });
  const password = 'copper kettles whistle softly';
  const chosen = { name: 'Aoife', password, 'password-again': password };
  await visitor.submit('/portal/invitation/accept', chosen);
  t.equal((await visitor.visit('/portal')).statusCode, 200, 'the link of the start leads into the portal');

  const receiver = createServer((_req, res) => res.end()).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  // A server that listens on a port has an address of this shape.
  const { port } = receiver.address() as AddressInfo;
  const sample = await workplace.run([
    'webhook',
    'sample',
    'job.completed',
    '--to',
    `http://127.0.0.1:${port}/in`,
  ]);
  receiver.close();
  t.match(sample, { exitCode: 0, stdout: /delivered/ });
  t.match(served.logs()[0], { msg: 'server.started', version });
  t.strictSame(await served.end('SIGTERM'), { exitCode: 0, signal: null });
}
