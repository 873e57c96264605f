/*
 * The samples in curl, TypeScript and Python are run by the first hour (test/_first-hour.ts), which copies them out of
 * the page.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { type SampledOperation, sampleLanguages, samplesOf } from '../../../src/server/reference/samples.ts';
import { startService } from '../../client/_service.ts';
import { startExampleServer } from '../../_server.ts';
import { judgeOutput, judgePdf, missing, run, samplesFor, skipCompiled, sourceIn } from './_samples.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const { paths, servers } = JSON.parse(readFileSync(join(root, 'generated', 'openapi.json'), 'utf8')) as {
  paths: Record<string, { get: SampledOperation }>;
  servers: [{ url: string }];
};
const operations = Object.entries(paths).map(([path, { get }]) => ({
  operationId: get.operationId,
  samples: samplesOf({ ...get, path }),
}));

const server = await startExampleServer('sqlite');
t.teardown(() => server[Symbol.asyncDispose]());

// So short that every list has more than one page.
const shown = samplesFor(operations, servers[0].url, server.url, 2);

const options = (cwd: string) => ({ cwd, env: { ...process.env, API_KEY: server.key } });

t.test('each operation has a sample in each language, with its own request', async (t) => {
  for (const { operationId, samples } of operations) {
    t.strictSame(
      samples.map(({ lang }) => lang),
      sampleLanguages,
    );
    for (const { lang, source } of samples) {
      t.match(source, servers[0].url, `${operationId} in ${lang}`);
      t.match(source, 'API_KEY');
      t.notMatch(source, /undefined|\[object/);
    }
  }
});

t.test('the key goes to nobody else, wherever an answer leads', async (t) => {
  const stranger = await startService(t, [(_req, res) => res.end('{"data":[],"nextCursor":null}')]);
  const { asked, keys } = stranger;
  const leading = await startService(t, [
    (req, res) => res.writeHead(302, { Location: `${stranger.url}${req.url ?? ''}` }).end(),
  ]);
  const aimed = samplesFor(operations, servers[0].url, leading.url);
  const programs = { Python: 'python3', PHP: 'php' };
  for (const [language, program] of Object.entries(programs)) {
    if (missing(program)) continue;
    for (const operation of aimed) {
      const folder = t.testdir({ sample: sourceIn(language, operation) });
      // It may fail, as it should.
      await run(program, ['sample'], options(folder)).catch(() => undefined);
    }
  }
  t.equal(asked.length > 0, !missing('python3'), 'Python follows');
  t.strictSame(keys.filter(Boolean), []);
});

t.test('the samples in PHP read every page', { skip: missing('php') }, async (t) => {
  const folder = t.testdir(
    Object.fromEntries(
      shown.map((operation) => [`${operation.operationId}.php`, sourceIn('PHP', operation)]),
    ),
  );
  const program = shown.map(
    ({ operationId }) => `echo "\n== ${operationId}\n"; require '${operationId}.php';`,
  );
  const printed = await run('php', ['-r', program.join('\n')], options(folder));
  await judgeOutput(t, shown, printed, server);
  judgePdf(t, folder, 'invoice.pdf');
});

t.test('the samples in C# read every page', { skip: skipCompiled('dotnet') }, async (t) => {
  for (const operation of shown) {
    const { operationId } = operation;
    const folder = t.testdir({ 'sample.cs': sourceIn('C#', operation) });
    const printed = await run('dotnet', ['run', 'sample.cs'], options(folder));
    await judgeOutput(t, [operation], `== ${operationId}\n${printed}`, server);
    if (operationId === 'getInvoicePdf') judgePdf(t, folder, 'invoice.pdf');
  }
});

t.test('the samples in Go read every page', { skip: skipCompiled('go') }, async (t) => {
  // One program is compiled much faster than twelve.
  const files = Object.fromEntries(
    shown.map((operation) => {
      const { operationId } = operation;
      const source = sourceIn('Go', operation).replace('func main()', `func ${operationId}()`);
      return [`${operationId}.go`, `${source}\n`];
    }),
  );
  const calls = shown.map(({ operationId }) => `\tfmt.Println("== ${operationId}")\n\t${operationId}()\n`);
  const main = `package main\n\nimport "fmt"\n\nfunc main() {\n${calls.join('')}}\n`;
  const folder = t.testdir({
    ...files,
    'go.mod': 'module samples\n\ngo 1.21\n',
    'main.go': main,
  });
  t.equal(await run('gofmt', ['-l', ...Object.keys(files)], options(folder)), '');
  await run('go', ['vet', '.'], options(folder));
  await judgeOutput(t, shown, await run('go', ['run', '.'], options(folder)), server);
  judgePdf(t, folder, 'invoice.pdf');
});
