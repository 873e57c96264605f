import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import got from 'got';
import type { Test } from 'tap';

import type { Sample } from '../src/server/reference/samples.ts';
import type { Served } from './_command.ts';
import { startMock } from './contract/_mock.ts';
import { startReceiver } from './client/examples/_receiver.ts';
import {
  judgeOutput,
  judgePdf,
  missing,
  run,
  samplesFor,
  type ShownOperation,
  sourceIn,
} from './server/reference/_samples.ts';

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
 * @param folder of an integrator, with the installed package in it.
 * @param served a server with the demo company.
 */
export async function testFirstHour(t: Test, folder: string, served: Served): Promise<void> {
  const { address, demo } = served.greeting;
  const key = demo?.key ?? '';
  const desk = { folder, env: { PATH: process.env.PATH, HOME: folder } };
  const { info, tags, paths } = await contractIn(`${address}/reference`);
  const shown = Object.values(paths).map(({ get }) => ({
    operationId: get.operationId,
    samples: get['x-codeSamples'],
  }));

  await t.test('the first request', { skip: missing('curl') }, async (t) => {
    const [, command = ''] = /^# Getting started$.*?^```sh\n(.*?)^```$/ms.exec(info.description) ?? [];
    const env = { ...desk.env, API_KEY: key };
    const { data } = JSON.parse(await run('sh', ['-c', command], { cwd: folder, env })) as {
      data: unknown[];
    };
    t.ok(data.length > 0);
  });

  const [, document] = /`npx @stoplight\/prism-cli mock (\S+)`/.exec(info.description) ?? [];
  t.equal(document, `${address}/openapi.json`);
  await using mock = await startMock(document);
  // So short that every list has more than one page.
  const operations = samplesFor(shown, address, address, 2);
  await t.test('the samples in curl read one page', { skip: missing('curl') }, (t) =>
    testCurl(t, deskIn(desk, 'curl'), operations, key),
  );
  await t.test('the samples in Python read everything', { skip: missing('python3') }, (t) =>
    testPython(t, deskIn(desk, 'python'), operations, key),
  );
  await t.test('the samples in TypeScript read everything', (t) =>
    testTypeScript(t, deskIn(desk, 'server'), operations, key),
  );
  // The mock has one page, the same for everybody.
  await t.test('and do so of the mock', (t) =>
    testTypeScript(t, deskIn(desk, 'mock'), samplesFor(shown, address, mock.url), key),
  );
  await t.test('the samples in TypeScript compile under strict', async (t) => {
    writeFileSync(join(folder, 'samples.json'), JSON.stringify(COMPILER));
    const tsc = join(checkout, '.bin', 'tsc');
    t.equal(await run(tsc, ['-p', 'samples.json'], { cwd: folder, env: desk.env }), '');
  });

  const webhooks = tags.find(({ name }) => name === 'Webhooks')?.description ?? '';
  // As one begins with it: copied beside the package.
  const receiver = join(folder, 'receiver.ts');
  cpSync(join(folder, 'node_modules/@fieldledger/client/examples/receiver.ts'), receiver);
  const environment = { PORT: '0', DATABASE: join(folder, 'receiver.db') };
  const { port } = await startReceiver(t, [process.execPath, receiver], environment);
  for (const [shownCommand, outcome] of [
    [/`(npx --no fieldledger webhook sample [^`]+)`/, /delivered/],
    [/`(npx --no fieldledger webhook play day [^`]+)`/, /The receiver answered all of them right\./],
  ] as const) {
    const [, command = ''] = shownCommand.exec(webhooks) ?? [];
    const aimed = command.replace('http://localhost:3000/', `http://127.0.0.1:${port}/`);
    t.not(aimed, command);
    t.match(await run('sh', ['-c', aimed], { cwd: folder, env: desk.env }), outcome, command);
  }
}

async function contractIn(reference: string): Promise<PublishedContract> {
  const page = await got(reference).text();
  const [, json = ''] = /<script type="application\/json" id="contract">(.*?)<\/script>/s.exec(page) ?? [];
  return JSON.parse(json) as PublishedContract;
}

/** A folder of a language in that of the desk. */
function deskIn({ folder, env }: Desk, name: string): Desk {
  const inside = join(folder, name);
  mkdirSync(inside);
  return { folder: inside, env };
}

/* Each program runs the samples of all operations, and prints the operation's name before each. */

async function testCurl(t: Test, { folder, env }: Desk, operations: ShownOperation[], key: string) {
  const commands = operations.map(
    (operation) => `echo; echo "== ${operation.operationId}"\n${sourceIn('curl', operation)}`,
  );
  const options = { cwd: folder, env: { ...env, API_KEY: key } };
  const printed = await run('sh', ['-e', '-c', commands.join('\n')], options);
  await judgeOutput(t, operations, printed, { key, pageSize: 2 });
  judgePdf(t, folder, 'INV-2026-0001.pdf');
}

async function testTypeScript(t: Test, { folder, env }: Desk, operations: ShownOperation[], key: string) {
  const imports = operations.map((operation) => {
    const { operationId } = operation;
    writeFileSync(join(folder, `${operationId}.ts`), sourceIn('TypeScript', operation));
    return `console.log('== ${operationId}');\nawait import('./${operationId}.ts');`;
  });
  writeFileSync(join(folder, 'all.mjs'), imports.join('\n'));
  const options = { cwd: folder, env: { ...env, API_KEY: key } };
  await judgeOutput(t, operations, await run(process.execPath, ['all.mjs'], options), { key });
  judgePdf(t, folder, 'INV-2026-0001.pdf');
}

async function testPython(t: Test, { folder, env }: Desk, operations: ShownOperation[], key: string) {
  const program = `
import json, sys
for name, source in json.loads(sys.argv[1]):
    print("==", name)
    exec(source, {})`;
  const sources = operations.map((operation) => [operation.operationId, sourceIn('Python', operation)]);
  const options = { cwd: folder, env: { ...env, API_KEY: key } };
  const printed = await run('python3', ['-c', program, JSON.stringify(sources)], options);
  await judgeOutput(t, operations, printed, { key });
  judgePdf(t, folder, 'invoice.pdf');
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
  include: ['server/*.ts', 'mock/*.ts'],
};
