import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import got from 'got';
import type { Test } from 'tap';

import { exampleSecret } from '../src/contract/examples.ts';
import type { Sample } from '../src/reference/samples.ts';
import { type Served, until } from './_command.ts';
import { startMock } from './contract/_mock.ts';
import {
  judgeOutput,
  judgePdf,
  missing,
  run,
  samplesFor,
  type ShownOperation,
  sourceIn,
  type Target,
} from './reference/_samples.ts';

const checkout = join(import.meta.dirname, '..', 'node_modules');

/** The contract inside the reference's page, as a server publishes it. */
interface PublishedContract {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, { get: { operationId: string; 'x-codeSamples': Sample[] } }>;
}

/** An empty folder in which only the package is installed, and what the shell there needs. */
interface Desk {
  folder: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Does what the reference of a server tells an integrator to do in the first hour: its commands and its samples in
 * curl, TypeScript and Python are copied out of the page and run, against the server and against the mock.
 * @param prefix where npm has installed the package.
 * @param served a server of that package with the demo company.
 */
export async function testFirstHour(t: Test, prefix: string, served: Served): Promise<void> {
  const { address, demo } = served.greeting;
  const folder = join(prefix, 'lib', 'first-hour');
  mkdirSync(folder);
  const server: Target = { url: address, key: demo?.key ?? '' };
  const desk = { folder, env: { PATH: process.env.PATH, HOME: folder, npm_config_prefix: prefix } };
  const { info, tags, paths } = await contractIn(`${address}/reference`);
  const shown = Object.values(paths).map(({ get }) => ({
    operationId: get.operationId,
    samples: get['x-codeSamples'],
  }));

  await t.test('the first request', { skip: missing('curl') }, async (t) => {
    const [, command = ''] = /^# Getting started$.*?^```sh\n(.*?)^```$/ms.exec(info.description) ?? [];
    const env = { ...desk.env, API_KEY: server.key };
    const { data } = JSON.parse(await run('sh', ['-c', command], { cwd: folder, env })) as {
      data: unknown[];
    };
    t.ok(data.length > 0);
  });

  const [, document] = /`npx @stoplight\/prism-cli mock (\S+)`/.exec(info.description) ?? [];
  t.equal(document, `${address}/openapi.json`);
  await using mock = await startMock(document);
  for (const [name, target] of [
    // So short that every list has more than one page.
    ['server', { ...server, pageSize: 2 }],
    // It has one page, the same for everybody.
    ['mock', { ...server, url: mock.url, pageSize: 100 }],
  ] as const) {
    await t.test(`the ${name}`, (t) =>
      testSamples(
        t,
        { ...desk, folder: join(folder, name) },
        samplesFor(shown, address, target.url, target.pageSize),
        target,
      ),
    );
  }

  const webhooks = tags.find(({ name }) => name === 'Webhooks')?.description ?? '';
  const commands = [...webhooks.matchAll(/`(npx fieldledger webhook [^`]+)`/g)].map(
    ([, command = '']) => command,
  );
  t.equal(commands.length, 2);
  const hook = await startReceiver(t, desk);
  for (const command of commands) {
    const aimed = command.replace('http://localhost:3000/hook', hook);
    t.not(aimed, command);
    t.match(
      await run('sh', ['-c', aimed], { cwd: folder, env: desk.env }),
      /delivered|everything right/,
      command,
    );
  }
}

async function contractIn(reference: string): Promise<PublishedContract> {
  const page = await got(reference).text();
  const [, json = ''] = /<script type="application\/json" id="contract">(.*?)<\/script>/s.exec(page) ?? [];
  return JSON.parse(json) as PublishedContract;
}

/** Each program runs the samples of all operations, and prints the operation's name before each. */
async function testSamples(
  t: Test,
  { folder, env }: Desk,
  operations: ShownOperation[],
  { key, pageSize }: Target & { pageSize: number },
): Promise<void> {
  mkdirSync(folder);
  const options = { cwd: folder, env: { ...env, API_KEY: key } };

  await t.test('the samples in curl read one page', { skip: missing('curl') }, async (t) => {
    const commands = operations.map(
      (operation) => `echo; echo "== ${operation.operationId}"\n${sourceIn('curl', operation)}`,
    );
    const printed = await run('sh', ['-e', '-c', commands.join('\n')], options);
    await judgeOutput(t, operations, printed, { key, pageSize });
    judgePdf(t, folder, 'INV-2026-0001.pdf');
  });

  await t.test('the samples in TypeScript compile under strict, and read everything', async (t) => {
    const imports = operations.map(
      ({ operationId }) => `console.log('== ${operationId}');\nawait import('./${operationId}.ts');`,
    );
    const files = {
      ...Object.fromEntries(
        operations.map((operation) => [`${operation.operationId}.ts`, sourceIn('TypeScript', operation)]),
      ),
      'all.mjs': imports.join('\n'),
      'tsconfig.json': JSON.stringify(COMPILER),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    await run(join(checkout, '.bin', 'tsc'), ['-p', folder], options);
    await judgeOutput(t, operations, await run(process.execPath, ['all.mjs'], options), { key });
    judgePdf(t, folder, 'INV-2026-0001.pdf');
  });

  await t.test('the samples in Python read everything', { skip: missing('python3') }, async (t) => {
    const program = `
import json, sys
for name, source in json.loads(sys.argv[1]):
    print("==", name)
    exec(source, {})`;
    const sources = operations.map((operation) => [operation.operationId, sourceIn('Python', operation)]);
    const printed = await run('python3', ['-c', program, JSON.stringify(sources)], options);
    await judgeOutput(t, operations, printed, { key });
    judgePdf(t, folder, 'invoice.pdf');
  });
}

/** As a new program would have it, with the types of Node that it installs. */
const COMPILER = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2023',
    module: 'nodenext',
    typeRoots: [join(checkout, '@types')],
    types: ['node'],
  },
  include: ['*.ts'],
};

/** Starts the package's receiver, copied to where one would begin with it, and gives its address. */
async function startReceiver(t: Test, { folder, env }: Desk): Promise<string> {
  cpSync(
    join(folder, '..', 'node_modules', 'fieldledger', 'src', 'examples', 'receiver.ts'),
    join(folder, 'receiver.ts'),
  );
  const receiver = spawn(process.execPath, ['receiver.ts'], {
    cwd: folder,
    env: { ...env, WEBHOOK_SECRET: exampleSecret(), PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => receiver.kill());
  let said = '';
  receiver.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const portIn = () => /port: (\d+)/.exec(said)?.[1];
  await until(() => portIn() !== undefined);
  return `http://127.0.0.1:${portIn()}/hook`;
}
