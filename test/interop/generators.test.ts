import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import t, { type Test } from 'tap';

import type { Change } from '../../src/contract/feed.ts';
import type { Resource } from '../../src/contract/records.ts';
import { loadGeneratedCompany } from '../../src/demo/load.ts';
import { applyChange } from '../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../src/server/backoffice/backoffice.ts';
import { keyFor, startExampleServer } from '../_server.ts';
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
  byKubb: Connect;
  everything: (client: object) => Promise<Company>;
  asKubb: (company: Company) => object;
  keepInStep: (client: object, copy: Map<string, { id: string }>, checkpoint?: string) => Promise<string>;
  schemasOf: (name: string) => { parse: (value: unknown) => unknown }[];
  told: (event: unknown) => string;
}

/** A draft that is discarded after it was copied. */
const DISCARDED = '01a2b3c4-d5e6-7f80-9123-456789abcdef';

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

t.test('a copy that is kept by each client stays true', async (t) => {
  const { byOpenapiFetch, byHeyApi, byOrval, byKubb, keepInStep } = written();
  const { id } = await loadGeneratedCompany(server.engine, 150, () => undefined);
  const key = await keyFor(server.engine, id);
  const copies = [byOpenapiFetch, byHeyApi, byOrval, byKubb].map((connect) => ({
    client: connect(server.url, key),
    records: new Map<string, { id: string }>(),
    checkpoint: '',
  }));
  const update = async () => {
    for (const copy of copies)
      copy.checkpoint = await keepInStep(copy.client, copy.records, copy.checkpoint || undefined);
  };
  const backoffice = openBackoffice(server.engine);
  const apply = (change: string, what: object) =>
    applyChange(backoffice, { company: id, change, with: what } as Change);
  const source = async () => {
    const headers = { authorization: `Bearer ${key}` };
    const answer = server.http('api/v1/invoices?status=all&limit=100', { headers });
    return answer.json<{ data: SummaryRead[]; nextCursor: null }>();
  };
  await update();
  const paid = (await source()).data.find(({ kind, status }) => kind === 'invoice' && status === 'issued');
  const line = {
    description: 'W',
    quantity: '1',
    unitPriceMinor: 1,
    vatRateBasisPoints: 2300,
    vatCategory: 'S',
  };
  const draft = { kind: 'invoice', customerId: paid?.customer.id, lines: [line] };
  await apply('invoice.draft', draft);
  await apply('invoice.draft', { ...draft, id: DISCARDED });
  const { id: invoiceId, currency } = paid ?? {};
  await apply('payment.record', { invoiceId, amountMinor: 1, currency, method: 'cash' });
  await update();
  await apply('invoice.discard', { id: DISCARDED });
  await update();
  const { data, nextCursor } = await source();
  t.equal(nextCursor, null);
  for (const { records } of copies) t.strictSame(byId([...records.values()]), data);
});

interface SummaryRead {
  id: string;
  kind: string;
  status: string;
  currency: string;
  customer: { id: string };
}

/** Whether each generated schema of a name takes a value, and loses nothing of it. */
function readsAs(t: Test, name: string, value: unknown): void {
  for (const schema of written().schemasOf(name)) t.strictSame(schema.parse(value), value, name);
}

t.test('the generated schemas read a larger company, too', async (t) => {
  const { byOpenapiFetch, everything } = written();
  const { id } = await loadGeneratedCompany(server.engine, 150, () => undefined);
  const found = await everything(byOpenapiFetch(server.url, await keyFor(server.engine, id)));
  const { people, customers, forms, jobs, submissions, invoices, quotes } = found;
  const lists = {
    ...{ listPeople: people, listCustomers: customers, listForms: forms },
    ...{ listJobs: jobs, listFormSubmissions: submissions },
  };
  for (const [operationId, data] of Object.entries(lists))
    readsAs(t, operationId, { data, nextCursor: null });
  for (const data of quotes) readsAs(t, 'getQuote', { data });
  for (const data of invoices) readsAs(t, 'getInvoice', { data });
});

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
