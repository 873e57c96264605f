import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import t from 'tap';
import { exampleSecret } from '../../src/contract/examples.ts';
import { signatureOf } from '../../src/contract/delivery-request.ts';
import { startExampleServer } from '../_server.ts';

/** The client as one script that makes `fieldledger`. */
const { outputFiles } = await build({
  entryPoints: [join(import.meta.dirname, '../../src/client/index.ts')],
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  globalName: 'fieldledger',
  platform: 'neutral',
  mainFields: ['module', 'main'],
});
const script = outputFiles[0]?.text ?? '';

/** The globals that Node, Bun, Deno and workers share beside JavaScript's own (WinterTC's minimum). */
const STANDARDS =
  'fetch Headers Request Response FormData URL URLSearchParams crypto performance AbortController AbortSignal DOMException TextDecoder TextEncoder TransformStream setTimeout clearTimeout';
const standards = Object.fromEntries(
  STANDARDS.split(' ').map((name) => [name, globalThis[name as keyof typeof globalThis] as unknown]),
);

t.test('the client has less than 20 kB, and needs no packages', async (t) => {
  const bytes = Buffer.byteLength(script);
  t.ok(bytes > 5_000 && bytes < 20_000, `${bytes} bytes`);
});

t.test('it works where there is nothing but web standards', async (t) => {
  await using server = await startExampleServer('sqlite');
  const body = JSON.stringify({ id: 'dlv_1', event: 'ping', data: {} });
  const secret = exampleSecret();
  const header = signatureOf(secret, body, new Date());
  const context = createContext({
    ...standards,
    given: { baseUrl: server.url, key: server.key, body, header, secret },
  });
  runInContext(script, context);
  const program = `(async () => {
    const { createClient, verifyWebhook } = fieldledger;
    const client = createClient({ baseUrl: given.baseUrl, key: given.key, etags: new Map() });
    const titles = [];
    for await (const { title } of client.listJobs({ limit: 4 })) titles.push(title);
    const error = await client.getJob('none').catch((caught) => caught);
    const event = await verifyWebhook(given.body, { 'service-signature': given.header }, given.secret);
    return JSON.stringify({ count: titles.length, code: error.code, event: event.event, node: typeof process + typeof Buffer });
  })()`;
  const outcome = (await runInContext(program, context)) as string;
  t.strictSame(JSON.parse(outcome), {
    count: 6,
    code: 'not_found',
    event: 'ping',
    node: 'undefinedundefined',
  });
});
