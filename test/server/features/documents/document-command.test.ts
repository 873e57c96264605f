import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { openWorkplace, until } from '../../../_command.ts';
import { apply } from '../../commands/_apply.ts';
import { customerSave } from '../../backoffice/_changes.ts';
import { invoiceDraft, issue } from '../../backoffice/_documents.ts';
import { exchange } from '../../backoffice/_issued.ts';

/** An invoice of the example company, which is settled. */
const SETTLED = '01a0a486-e8e0-7076-ace5-e31611d48e0a';
const DRAFT = '01a1ef7b-a420-7b42-8594-7b990f1a8c5f';
const ABSENT = '01a00000-0000-7000-8000-000000000000';
const OWN = '01a20000-0000-7000-8000-000000000001';
const DINARS = '01a20000-0000-7000-8000-000000000002';

/** The example company, whose documents the tests look at. */
const brennan = await openWorkplace('sqlite', { contents: 'example' });
t.teardown(() => brennan[Symbol.asyncDispose]());
const folder = join(brennan.folder, 'written');
mkdirSync(folder);
const { call, json } = brennan;

t.test('the PDF of a document is the one that the API serves, in a file or on a pipe', async (t) => {
  const out = join(folder, 'invoice.pdf');
  const written = await json(`document pdf ${SETTLED} --company brennan --out ${out}`);
  const bytes = readFileSync(out);
  t.match(bytes.toString('latin1'), /^%PDF-1\.7\n/);
  const told = { name: 'INV-2026-0001', sha256: hash('sha256', bytes), bytes: bytes.length };
  t.strictSame(written, { ...told, file: out });
  const { key } = await json<{ key: string }>('key create brennan --scopes all');
  const { greeting, stop } = await brennan.serveHere();
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${greeting.address}/api/v1/invoices/${SETTLED}/pdf`, { headers });
  t.strictSame(Buffer.from(await answer.arrayBuffer()), bytes);
  await stop();
  // A real pipe takes less at a time than the whole.
  const piped = await brennan.run(`document pdf ${SETTLED} --out - --json`);
  t.equal(piped.exitCode, 0);
  t.equal(piped.stdout, bytes.toString('utf8'));
  t.match(JSON.parse(piped.stderr), { ...told, file: null }, 'what is said of it is on standard error');
});

t.test('the e-invoice of a document is written in either syntax, where it has one', async (t) => {
  const out = join(folder, 'invoice.xml');
  const write = (id: string, format: string) =>
    call(`document xml ${id} --company brennan --format ${format} --out ${out}`);
  for (const [format, root] of [
    ['ubl', '<Invoice xmlns='],
    ['cii', '<rsm:CrossIndustryInvoice '],
  ] as const) {
    const stdout = /^INV-2026-0001: [\d,]+ bytes, written to /;
    t.match(await write(SETTLED, format), { exitCode: 0, stdout });
    t.ok(readFileSync(out, 'utf8').includes(root), format);
  }
  const before = readFileSync(out);
  t.match(await write(DRAFT, 'ubl'), { exitCode: 1, stderr: /A draft has no e-invoice/ });
  t.match(await write(ABSENT, 'ubl'), { exitCode: 1, stderr: /has no document/ });
  t.match(await write(SETTLED, 'edifact'), { exitCode: 2, stderr: /Allowed choices are cii, ubl/ });
  t.strictSame(readFileSync(out), before, 'nothing was written');
});

t.test('a PDF replaces a file as a whole, or leaves it as it was', async (t) => {
  const pdfs = join(folder, 'pdfs');
  mkdirSync(pdfs);
  const out = join(pdfs, 'draft.pdf');
  writeFileSync(out, 'old');
  const write = (path: string, id = DRAFT) => call(`document pdf ${id} --out ${path}`);
  const stdout = /^draft-01a1ef7b-\S+: \d+,\d+ bytes, written to \S+draft\.pdf\n$/;
  t.match(await write(out), { exitCode: 0, stdout });
  t.match(readFileSync(out, 'latin1'), /^%PDF-/);
  t.strictSame(readdirSync(pdfs), ['draft.pdf']);
  const fresh = join(pdfs, 'fresh.pdf');
  t.match(await write(fresh), { exitCode: 0 });
  t.equal(statSync(fresh).mode & 0o777, 0o600, 'a new one is its owner’s, whatever the umask says');
  const nowhere = await write(join(pdfs, 'none', 'draft.pdf'));
  t.match(nowhere, { exitCode: 1, stderr: /There is no folder ".*none"\./ });
  t.match(await write(pdfs), { exitCode: 1, stderr: /is a folder\./ });
  t.match(await write(join(pdfs, 'absent.pdf'), ABSENT), {
    exitCode: 1,
    stderr: `fieldledger: No company has a document "${ABSENT}".\n`,
  });
  t.notOk(existsSync(join(pdfs, 'absent.pdf')));
});

t.test('a statement of account is written of an issued invoice alone', async (t) => {
  const out = join(folder, 'st.pdf');
  const statement = (id: string) => `document statement ${id} --out ${out}`;
  const { name, bytes } = await json<{ name: string; bytes: number }>(statement(SETTLED));
  t.match(name, /^statement-INV-2026-0001-\d{4}-\d\d-\d\d$/);
  t.equal(statSync(out).size, bytes);
  t.match(await call(statement(DRAFT)), {
    exitCode: 1,
    stderr: `fieldledger: The document "${DRAFT}" is not an issued invoice, so it has no statement.\n`,
  });
});

t.test('a document is checked item by item, whatever state it is in', async (t) => {
  const settled = await call(`document check ${SETTLED}`);
  t.equal(settled.exitCode, 0);
  t.match(settled.stdout, /^invoice INV-2026-0001: \d+ items, nothing is missing\npresent {2}/);
  t.match(settled.stdout, /^present {2}the supplier's VAT number \(IE reg\. 20\(2\)\(c\)/m);
  t.notMatch(settled.stdout, /MISSING/);
  const { items, ...rest } = await json<{ items: object[] }>(`document check ${SETTLED}`);
  t.strictSame(rest, {
    ...{ id: SETTLED, kind: 'invoice', status: 'issued', number: 'INV-2026-0001' },
    eInvoiceProblem: null,
  });
  t.ok(items.length > 10);
  t.match(items[0], { item: "the supplier's full name", source: /EN 16931/, problem: null });
  const draft = await call(`document check ${DRAFT}`);
  t.match(draft.stdout, /^invoice 01a1ef7b-\S+, a draft: \d+ items/);
});

const draftOf = (company: string) => [
  { company, ...customerSave({ id: 'cus_1', addressLines: ['1 Quay Street'] }) },
  { company, ...invoiceDraft({ id: OWN }) },
];

t.test('each gap of a draft is named until it is filled, and later changes are none of its', async (t) => {
  await using workplace = await openWorkplace();
  const set = (settings: string) => workplace.json(`company set acme ${settings}`);
  await workplace.json("company create acme --country-code IE --legal-name 'Acme Limited'");
  await apply(workplace, draftOf('acme'));
  const check = () => workplace.call(`document check ${OWN} --company acme`);
  const lacking = await check();
  t.equal(lacking.exitCode, 1);
  for (const line of [
    /: \d+ items, 2 missing\n/,
    /^MISSING {2}the supplier's address \(.*\): the company's profile has no addressLines$/m,
    /^MISSING {2}the supplier's VAT number \(.*\): .*no vatId/m,
  ])
    t.match(lacking.stdout, line);
  await set("--address-lines '2 Dock Road' --vat-id IE9876543H");
  t.equal((await check()).exitCode, 0);
  await apply(workplace, [{ company: 'acme', ...issue(OWN) }]);
  const dinars = { id: DINARS, exchange: { ...exchange, exchangeRate: '2.9' }, currency: 'KWD' } as const;
  await apply(workplace, [
    { company: 'acme', ...customerSave({ id: 'cus_1', currency: 'KWD', addressLines: ['1 Quay Street'] }) },
    { company: 'acme', ...invoiceDraft(dinars) },
  ]);
  const { exitCode, stdout } = await workplace.call(`document check ${DINARS}`);
  t.equal(exitCode, 0, 'no law asks for an e-invoice');
  t.match(stdout, /^no e-invoice: EN 16931 can't express it, for currency is "KWD", which has/m);
  await set('--vat-id FR11123456782');
  t.equal((await check()).exitCode, 0, 'its supplier is the one of its issue');
  const checked = await workplace.json(`document check ${OWN}`);
  t.match(checked, { id: OWN, status: 'issued', number: /^INV-\d{4}-0001$/ });
});

t.test('a document is found by its id alone while one company has it', async (t) => {
  await using workplace = await openWorkplace();
  for (const company of ['acme', 'other']) {
    await workplace.json(`company create ${company} --api --invoicing`);
    await apply(workplace, draftOf(company));
  }
  const country = "The company's profile has no country; documents can be issued for IE and GB.";
  for (const [args, message] of [
    [OWN, `The companies "acme", "other" have a document "${OWN}": name one with --company.`],
    [`${OWN} --company acme`, country],
    [`${OWN.toUpperCase()} --company acme`, country],
    [`${ABSENT} --company acme`, `The company "acme" has no document "${ABSENT}".`],
    [`${OWN} --company none`, 'There is no company "none".'],
  ] as const)
    t.equal((await workplace.call(`document check ${args}`)).stderr, `fieldledger: ${message}\n`, args);
});

t.test('a server hands documents over to a folder, and a command has one handed over again', async (t) => {
  await json('company set brennan --hand-over');
  await apply(brennan, [{ company: 'brennan', ...issue(DRAFT) }]);
  const outbox = join(folder, 'outbox');
  mkdirSync(outbox);
  await brennan.serveHere([], { ACCESS_POINT_FOLDER: outbox });
  const documents = () => readdirSync(outbox).filter((file) => file.endsWith('.xml'));
  const arrived = () => until(() => documents().length > 0);
  await arrived();
  const [name = ''] = documents();
  t.match(name, /^brennan_[\w-]+_01a1ef7b-a420-7b42-8594-7b990f1a8c5f\.xml$/);
  const path = join(outbox, name);
  const first = readFileSync(path, 'utf8');
  t.match(first, /^<\?xml [^>]*>\s*<Invoice /);
  rmSync(path);
  // Until it is noted that the first has arrived, it is being sent.
  await until(async () => (await call(`document hand-over ${DRAFT}`)).stdout.includes('handed over again'));
  await arrived();
  t.equal(readFileSync(path, 'utf8'), first);
  const refused = await call(`document hand-over ${SETTLED}`);
  t.match(refused, { exitCode: 1, stderr: /has no document .* to hand over/ });
});
