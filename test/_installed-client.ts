import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { exampleEvents, exampleSecret } from '../src/contract/examples.ts';
import { signatureOf } from '../src/contract/delivery-request.ts';
import { startExampleServer } from './_server.ts';

const run = promisify(execFile);
const bin = join(import.meta.dirname, '..', 'node_modules', '.bin');

/** The samples of the client's page. */
const SAMPLES = [
  ...readFileSync(join(import.meta.dirname, '../src/client/README.md'), 'utf8').matchAll(
    /^```ts\n(.*?)^```$/gms,
  ),
].map(([, sample = '']) => sample);

/** Calls that the compiler must refuse, and the answers to a genuine and a forged webhook. */
const CHECKS = `
declare const process: { env: Record<string, string | undefined> };
// @ts-expect-error Jobs have no kind.
export const noFilter = () => client.listJobs({ kind: 'invoice' });
// @ts-expect-error An id is needed.
export const noId = () => client.getJob();
export const save = async (id: string): Promise<File> => {
  const { bytes, fileName } = await client.getInvoicePdf(id);
  return new File([bytes], fileName);
};
for (const header of [process.env.SIGNATURE ?? '', 't=1,v1=']) {
  const request = { method: 'POST', body: process.env.BODY ?? '', headers: { 'Service-Signature': header } };
  console.log((await receive(new Request('http://localhost/hook', request))).status);
}
`;

/** A program for any runtime: nothing but the web's own types. */
const SETTINGS = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022', 'dom', 'dom.asynciterable'],
    types: [],
    skipLibCheck: false,
  },
  files: ['program.ts'],
};

/** Compiles and runs the samples of the page for integrators beside the installed package. */
export async function testInstalledClient(t: Test, folder: string): Promise<void> {
  await using server = await startExampleServer('sqlite');
  const program = `${SAMPLES.join('')}${CHECKS}`.replace('https://api.fieldledger.example', server.url);
  const files = {
    'package.json': '{ "type": "module" }',
    'tsconfig.json': JSON.stringify(SETTINGS),
    'program.ts': program,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  await run(join(bin, 'tsc'), ['-p', folder]);
  const [{ body } = { body: '' }] = exampleEvents().filter(({ event }) => event === 'invoice.paid');
  const secret = exampleSecret();
  const env = {
    API_KEY: server.key,
    FEED_TOKEN: 'fl-feed.acme',
    WEBHOOK_SECRET: secret,
    BODY: body,
    SIGNATURE: signatureOf(secret, body, new Date()),
  };
  const { stdout } = await run(process.execPath, [join(folder, 'program.js')], { env });
  const [first, ...others] = stdout.trimEnd().split('\n');
  t.match(first, /^\S+ \d+ EUR$/);
  const paid = /^INV-\S+ was paid on 2026-\d\d-\d\d$/;
  t.match(others.slice(-4), ['Annual boiler service', paid, '204', '401']);
}
