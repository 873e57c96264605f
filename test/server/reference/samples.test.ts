/*
 * The samples in curl, TypeScript and Python are run by the first hour (test/_first-hour.ts), which copies them out of
 * the page, and those in C# and Go before a release (test/interop).
 */
import t from 'tap';

import { sampleLanguages } from '../../../src/server/reference/samples.ts';
import { startService } from '../../client/_service.ts';
import { startExampleServer } from '../../_server.ts';
import {
  judgeOutput,
  judgePdf,
  missing,
  publishedSamples,
  run,
  SHOWN_ADDRESS,
  sourceIn,
} from './_samples.ts';

const server = await startExampleServer('sqlite');
t.teardown(() => server[Symbol.asyncDispose]());

// So short that every list has more than one page.
const shown = publishedSamples(server.url, 2);

const options = (cwd: string) => ({ cwd, env: { ...process.env, API_KEY: server.key } });

t.test('each operation has a sample in each language, with its own request', async (t) => {
  for (const { operationId, samples } of publishedSamples(SHOWN_ADDRESS)) {
    t.strictSame(
      samples.map(({ lang }) => lang),
      sampleLanguages,
    );
    for (const { lang, source } of samples) {
      t.match(source, SHOWN_ADDRESS, `${operationId} in ${lang}`);
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
  const aimed = publishedSamples(leading.url);
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
