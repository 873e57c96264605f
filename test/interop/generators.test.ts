import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import t, { type Test } from 'tap';

import type { Resource } from '../../src/contract/records.ts';
import { startExampleServer } from '../_server.ts';
import { byId, company } from '../contract/_company.ts';
import { bodies, examplesOf, operations, root } from '../contract/_contract.ts';
import { compilerOptions, generators, program } from './_generators.ts';
import { modules, programOf } from './_installed.ts';

type Company = Record<Resource, { id: string }[]>;
type Connect = (baseUrl: string, key: string) => object;

/** The exports of `program`. */
interface Program {
  byOpenapiFetch: Connect;
  byHeyApi: Connect;
  byOrval: Connect;
  everything: (client: object) => Promise<Company>;
  asKubb: (company: Company) => object;
  schemasOf: (name: string) => { parse: (value: unknown) => unknown }[];
  told: (event: unknown) => string;
}

// Inside the modules, so that generated code finds the packages that it imports.
const cache = join(modules, '.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'generators-'));
const server = await startExampleServer('sqlite');
t.teardown(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});
copyFileSync(new URL('generated/openapi.json', root), join(folder, 'openapi.json'));

function run(command: string, options: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(programOf(command), options, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, DO_NOT_TRACK: '1', NO_COLOR: '1' },
    timeout: 200_000,
  });
  return { status, said: stdout + stderr };
}

let compiled: Program | undefined;

/** @throws Error when the program wasn't generated, or didn't compile. */
function written(): Program {
  if (!compiled) throw new Error('There is no program.');
  return compiled;
}

t.test('every generator takes the contract without a warning', async (t) => {
  for (const { name, command, options, settings } of generators) {
    if (settings) writeFileSync(join(folder, settings.file), settings.text);
    const { status, said } = run(command, options);
    t.equal(status, 0, `${name}:\n${said}`);
    t.notMatch(said, /\bwarn|⚠|deprecat|\bunsupported/i, name);
  }
});

t.test('everything that is generated compiles under strict, and the types fit each other', async (t) => {
  writeFileSync(join(folder, 'package.json'), '{}');
  writeFileSync(join(folder, 'program.ts'), program);
  const settings = { compilerOptions, include: ['**/*.ts'], exclude: ['out'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const { status, said } = run('tsc', []);
  t.equal(status, 0, said);
  if (status === 0) compiled = createRequire(import.meta.url)(join(folder, 'out', 'program.js')) as Program;
});

t.test('every client lists every record of the example company', async (t) => {
  const { byOpenapiFetch, byHeyApi, byOrval, everything, asKubb } = written();
  for (const connect of [byOpenapiFetch, byHeyApi, byOrval]) {
    const found = await everything(connect(server.url, server.key));
    t.strictSame({ ...found, submissions: byId(found.submissions) }, company, connect.name);
    t.match(found, asKubb(found));
  }
});

/** Whether each generated schema of a name takes a value, and loses nothing of it. */
function readsAs(t: Test, name: string, value: unknown): void {
  for (const schema of written().schemasOf(name)) t.strictSame(schema.parse(value), value, name);
}

t.test('the generated schemas read every answer and every event, and lose nothing of it', async (t) => {
  for (const { operationId } of operations) {
    for (const { value } of examplesOf(operationId, 200))
      if (typeof value === 'object') readsAs(t, operationId, value);
  }
  const events = [...bodies()].filter(({ schema }) => schema.properties?.['event'] !== undefined);
  for (const { name, example } of events) {
    readsAs(t, 'event', example.value);
    t.type(written().told(example.value), 'string', name);
  }
});
