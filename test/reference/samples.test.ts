import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';
import type { Test } from 'tap';

import { type SampledOperation, sampleLanguages, samplesOf } from '../../src/reference/samples.ts';
import { startExampleServer } from '../_server.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const bin = join(root, 'node_modules', '.bin');
const { paths, servers } = JSON.parse(readFileSync(join(root, 'generated', 'openapi.json'), 'utf8')) as {
  paths: Record<string, { get: SampledOperation }>;
  servers: [{ url: string }];
};
const operations = Object.entries(paths).map(([path, { get }]) => ({ ...get, path }));

const server = await startExampleServer('sqlite');
t.teardown(() => server[Symbol.asyncDispose]());

interface Sampled {
  operationId: string;
  source: string;
}

/** The samples in a language, for this server, as the publication makes them for a configured one. */
function samplesIn(language: string): Sampled[] {
  return operations.map((operation) => {
    const { source = '' } = samplesOf(operation).find(({ lang }) => lang === language) ?? {};
    return {
      operationId: operation.operationId,
      // So short that every list has more than one.
      source: source.replaceAll(servers[0].url, server.url).replace(/(limit\W+)100/, '$12'),
    };
  });
}

/** The ids that a sample must print: of a curl that doesn't follow its cursor, those of one page. */
async function expectedIds({ operationId }: Sampled, pageSize: number): Promise<string[]> {
  const curl = samplesIn('curl').find((sample) => sample.operationId === operationId)?.source ?? '';
  const [, target = ''] = /http:\/\/[^/]+\/([^"]+)"/.exec(curl) ?? [];
  const headers = { Authorization: `Bearer ${server.key}` };
  const url = target.replace('limit=2', `limit=${pageSize}`);
  const { data } = await server.http
    .get(url, { headers })
    .json<{ data: { id: string } | { id: string }[] }>();
  return [data].flat().map(({ id }) => id);
}

/** Compares what the samples printed, each behind a line with its operation's name, with the server's records. */
async function judge(t: Test, samples: Sampled[], printed: string, pageSize = 100): Promise<void> {
  const parts = new Map(printed.split(/^== /m).map((part) => [/^\w*/.exec(part)?.[0], part]));
  for (const sample of samples) {
    const { operationId } = sample;
    const output = parts.get(operationId);
    t.type(output, 'string', operationId);
    if (operationId === 'getInvoicePdf') continue;
    const ids = await expectedIds(sample, pageSize);
    t.ok(ids.length > 0, operationId);
    t.strictSame(
      ids.filter((id) => output?.includes(id) !== true),
      [],
      operationId,
    );
  }
}

function judgePdf(t: Test, file: string): void {
  t.match(readFileSync(file, 'latin1'), /^%PDF-/);
}

/** Says why a test can't be run here; false where it can. */
function missing(program: string, option = '--version'): string | false {
  return spawnSync(program, [option]).error ? `${program} is not on this machine` : false;
}

/** Compilers take more time than everything else here. */
function skipCompiled(program: string): string | false {
  if (process.env['COMPILED_SAMPLES'] === undefined) return 'COMPILED_SAMPLES=1 has them compiled';
  return missing(program, program === 'go' ? 'version' : '--version');
}

const options = (cwd: string) => ({
  cwd,
  env: { ...process.env, API_KEY: server.key },
  timeout: 120_000,
});

t.test('each operation has a sample in each language, with its own request', async (t) => {
  for (const operation of operations) {
    const samples = samplesOf(operation);
    t.strictSame(
      samples.map(({ lang }) => lang),
      sampleLanguages,
    );
    for (const { lang, source } of samples) {
      t.match(source, servers[0].url, `${operation.operationId} in ${lang}`);
      t.match(source, 'API_KEY');
      t.notMatch(source, /undefined|\[object/);
    }
  }
});

t.test('the samples in curl read what they say', { skip: missing('curl') }, async (t) => {
  const folder = t.testdir();
  const samples = samplesIn('curl');
  const script = samples.map(({ operationId, source }) => `echo; echo "== ${operationId}"\n${source}`);
  const { stdout } = await run('sh', ['-e', '-c', script.join('\n')], options(folder));
  await judge(t, samples, stdout, 2);
  judgePdf(t, join(folder, 'INV-2026-0001.pdf'));
});

t.test('the samples in TypeScript compile under strict, and read everything', async (t) => {
  const samples = samplesIn('TypeScript');
  const program = samples.map(
    ({ operationId }) => `console.log('== ${operationId}');\nawait import('./${operationId}.ts');`,
  );
  const folder = t.testdir({
    ...Object.fromEntries(samples.map(({ operationId, source }) => [`${operationId}.ts`, source])),
    'all.mjs': program.join('\n'),
    'tsconfig.json': JSON.stringify({ extends: join(root, 'tsconfig.json'), include: ['*.ts'] }),
  });
  await run(join(bin, 'tsc'), ['-p', folder], options(folder));
  const { stdout } = await run(process.execPath, [join(folder, 'all.mjs')], options(folder));
  await judge(t, samples, stdout);
  judgePdf(t, join(folder, 'INV-2026-0001.pdf'));
});

t.test('the samples in Python read every page', { skip: missing('python3') }, async (t) => {
  const folder = t.testdir();
  const samples = samplesIn('Python');
  const program = `
import json, sys
for sample in json.loads(sys.argv[1]):
    print("==", sample["operationId"])
    exec(sample["source"], {})`;
  const args = ['-c', program, JSON.stringify(samples)];
  const { stdout } = await run('python3', args, options(folder));
  await judge(t, samples, stdout);
  judgePdf(t, join(folder, 'invoice.pdf'));
});

t.test('the samples in PHP read every page', { skip: missing('php') }, async (t) => {
  const samples = samplesIn('PHP');
  const folder = t.testdir(
    Object.fromEntries(samples.map(({ operationId, source }) => [`${operationId}.php`, source])),
  );
  const program = samples.map(
    ({ operationId }) => `echo "\n== ${operationId}\n"; require '${operationId}.php';`,
  );
  const { stdout } = await run('php', ['-r', program.join('\n')], options(folder));
  await judge(t, samples, stdout);
  judgePdf(t, join(folder, 'invoice.pdf'));
});

t.test('the samples in C# read every page', { skip: skipCompiled('dotnet') }, async (t) => {
  for (const sample of samplesIn('C#')) {
    const folder = t.testdir({ 'sample.cs': sample.source });
    const { stdout } = await run('dotnet', ['run', 'sample.cs'], options(folder));
    await judge(t, [sample], `== ${sample.operationId}\n${stdout}`);
    if (sample.operationId === 'getInvoicePdf') judgePdf(t, join(folder, 'invoice.pdf'));
  }
});

t.test('the samples in Go read every page', { skip: skipCompiled('go') }, async (t) => {
  const samples = samplesIn('Go');
  // One program is compiled much faster than twelve.
  const files = Object.fromEntries(
    samples.map(({ operationId, source }) => [
      `${operationId}.go`,
      `${source.replace('func main()', `func ${operationId}()`)}\n`,
    ]),
  );
  const calls = samples.map(({ operationId }) => `\tfmt.Println("== ${operationId}")\n\t${operationId}()\n`);
  const main = `package main\n\nimport "fmt"\n\nfunc main() {\n${calls.join('')}}\n`;
  const folder = t.testdir({
    ...files,
    'go.mod': 'module samples\n\ngo 1.21\n',
    'main.go': main,
  });
  const { stdout: unformatted } = await run('gofmt', ['-l', ...Object.keys(files)], options(folder));
  t.equal(unformatted, '');
  await run('go', ['vet', '.'], options(folder));
  const { stdout } = await run('go', ['run', '.'], options(folder));
  await judge(t, samples, stdout);
  judgePdf(t, join(folder, 'invoice.pdf'));
});
