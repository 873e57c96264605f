import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';

import { applyChange } from '../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../src/server/backoffice/backoffice.ts';
import type { Change } from '../../src/contract/feed.ts';
import { loadGeneratedCompany } from '../../src/demo/load.ts';
import { keyFor, startExampleServer } from '../_server.ts';
import { byIdAscending, company as exampleCompany } from './_company.ts';
import { bodies, operations, root } from './_contract.ts';
import { compilerOptions, generators, program } from './_generators.ts';

type Company = Record<keyof typeof exampleCompany, { id: string }[]>;
type Read = (baseUrl: string, key: string) => Promise<Company>;

/** A draft that is discarded after it was copied. */
const DISCARDED = '01a2b3c4-d5e6-7f80-9123-456789abcdef';

/** Reads a page of invoices with a client that was generated. */
type ReadPage = (query: object) => Promise<object>;

/** The exports of `program`. */
interface Program {
  invoicePages: Record<string, (baseUrl: string, key: string) => ReadPage>;
  keepInStep: (read: ReadPage, copy: Map<string, object>, checkpoint?: string) => Promise<string>;
  byOpenapiFetch: Read;
  byHeyApi: Read;
  byOrval: Read;
  asKubb: (company: Company) => Company;
  schemas: Record<string, { parse: (value: unknown) => unknown }[]>;
  told: (event: unknown) => string;
}

// Inside the modules, so that generated code finds the packages that it imports.
const cache = fileURLToPath(new URL('node_modules/.cache/', root));
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'generators-'));
const server = await startExampleServer('sqlite');
t.teardown(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});
copyFileSync(new URL('generated/openapi.json', root), join(folder, 'openapi.json'));

function run(command: string, options: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(join(cache, '..', '.bin', command), options, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, DO_NOT_TRACK: '1', NO_COLOR: '1' },
    timeout: 200_000,
  });
  return { status, said: stdout + stderr };
}

let written: Program | undefined;

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
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['**/*.ts'], exclude: ['out'] }),
  );
  const { status, said } = run('tsc', []);
  t.equal(status, 0, said);
  if (status === 0) written = createRequire(import.meta.url)(join(folder, 'out', 'program.js')) as Program;
});

t.test('every client lists every record of the demo company', async (t) => {
  const { byOpenapiFetch, byHeyApi, byOrval, asKubb } = the(written);
  for (const read of [byOpenapiFetch, byHeyApi, byOrval]) {
    const found = await read(server.url, server.key);
    // Submissions are listed form by form.
    t.strictSame({ ...found, submissions: found.submissions.sort(byIdAscending) }, exampleCompany, read.name);
    t.match(found, asKubb(found));
  }
});

t.test('a copy that is kept by each client stays true', async (t) => {
  const { invoicePages, keepInStep } = the(written);
  const { id } = await loadGeneratedCompany(server.engine, 150, () => undefined);
  const key = await keyFor(server.engine, id);
  const copies = Object.values(invoicePages).map((connect) => ({
    read: connect(server.url, key),
    records: new Map<string, { id: string }>(),
    checkpoint: '',
  }));
  const update = async () => {
    for (const copy of copies)
      copy.checkpoint = await keepInStep(copy.read, copy.records, copy.checkpoint || undefined);
  };
  await update();
  const backoffice = openBackoffice(server.engine);
  const { data } = await server
    .http('api/v1/invoices?status=all&limit=100', { headers: { authorization: `Bearer ${key}` } })
    .json<{
      data: { id: string; kind: string; status: string; currency: string; customer: { id: string } }[];
    }>();
  const paid = data.find(({ kind, status }) => kind === 'invoice' && status === 'issued');
  const draft = {
    kind: 'invoice',
    customerId: paid?.customer.id,
    lines: [
      { description: 'W', quantity: '1', unitPriceMinor: 1, vatRateBasisPoints: 2300, vatCategory: 'S' },
    ],
  };
  const apply = (change: string, what: object) =>
    applyChange(backoffice, { company: id, change, with: what } as Change);
  await apply('invoice.draft', draft);
  await apply('invoice.draft', { ...draft, id: DISCARDED });
  await apply('payment.record', {
    invoiceId: paid?.id,
    amountMinor: 1,
    currency: paid?.currency,
    method: 'cash',
  });
  await update();
  await apply('invoice.discard', { id: DISCARDED });
  await update();
  const source = await server
    .http('api/v1/invoices?status=all&limit=100', { headers: { authorization: `Bearer ${key}` } })
    .json<{ data: { id: string }[]; nextCursor: null }>();
  t.equal(source.nextCursor, null);
  for (const { records } of copies)
    t.strictSame(
      [...records.values()].sort((a, b) => byIdAscending(a, b)),
      source.data,
    );
});

t.test('the clients and the schemas read a larger company, too', async (t) => {
  const { byOpenapiFetch, byHeyApi, byOrval, schemas } = the(written);
  const { id } = await loadGeneratedCompany(server.engine, 150, () => undefined);
  const key = await keyFor(server.engine, id);
  const found = await byOpenapiFetch(server.url, key);
  t.ok(Object.values(found).flat().length >= 150);
  for (const read of [byHeyApi, byOrval]) t.strictSame(await read(server.url, key), found, read.name);
  for (const [operationId, records] of [
    ['listJobs', found.jobs],
    ['listPeople', found.people],
    ['listForms', found.forms],
    ['listFormSubmissions', found.submissions],
    ['listCustomers', found.customers],
  ] as const) {
    for (const record of records) readsAs(t, schemas, operationId, { data: [record], nextCursor: null });
  }
  for (const data of found.quotes) readsAs(t, schemas, 'getQuote', { data });
  for (const data of found.invoices) readsAs(t, schemas, 'getInvoice', { data });
});

t.test('the generated schemas read every answer and every event, and lose nothing of it', async (t) => {
  const { schemas, told } = the(written);
  const answers = operations.flatMap(({ operationId, responses }) =>
    Object.values(responses['200']?.content?.['application/json']?.examples ?? {}).map((example) => ({
      operationId,
      target: example['x-request'] ?? '',
    })),
  );
  t.ok(answers.length > 60, `${answers.length} answers`);
  const headers = { authorization: `Bearer ${server.key}` };
  for (const { operationId, target } of answers) {
    readsAs(t, schemas, operationId, await server.http.get(target.slice(1), { headers }).json());
  }
  const events = [...bodies()].filter(({ schema }) => schema.properties?.['event'] !== undefined);
  t.ok(events.length >= 12);
  for (const { name, example } of events) {
    readsAs(t, schemas, 'event', example.value);
    t.type(told(example.value), 'string', name);
  }
});

function the<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('It was not generated, or it did not compile.');
  return value;
}

function readsAs(t: Test, schemas: Program['schemas'], name: string, value: unknown): void {
  for (const schema of the(schemas[name])) t.strictSame(schema.parse(value), value, name);
}
