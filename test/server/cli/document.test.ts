import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { openWorkplace, until, type Workplace } from '../../_command.ts';
import { engineNames } from '../../_server.ts';
import { fileOf } from './_apply.ts';
import { customerSave } from '../backoffice/_changes.ts';
import { invoiceDraft, issue } from '../backoffice/_documents.ts';
import { feedOf } from '../backoffice/_feed.ts';

/** An invoice of the example company, which is settled. */
const SETTLED = '01a0a486-e8e0-7076-ace5-e31611d48e0a';
const DRAFT = '01a1ef7b-a420-7b42-8594-7b990f1a8c5f';
const ABSENT = '01a00000-0000-7000-8000-000000000000';
const OWN = '01a20000-0000-7000-8000-000000000001';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function apply(workplace: Workplace, company: string, changes: object[]): Promise<void> {
  const feed = feedOf(changes.map((change) => ({ company, ...change })));
  const { exitCode, stdout } = await workplace.call(['apply', fileOf(workplace, feed)]);
  if (exitCode !== 0) throw new Error(stdout);
}

for (const engine of engineNames) {
  t.test(`${engine}: the PDF of a document is the one that the API serves`, async (t) => {
    await using workplace = await openWorkplace(engine);
    await workplace.json(['demo']);
    const out = join(workplace.folder, 'invoice.pdf');
    const written = await workplace.json(['document', 'pdf', SETTLED, '--company', 'brennan', '--out', out]);
    const bytes = readFileSync(out);
    t.match(bytes.toString('latin1'), /^%PDF-1\.7\n/);
    t.strictSame(written, {
      name: 'INV-2026-0001',
      sha256: sha256(bytes),
      bytes: bytes.length,
      file: out,
    });
    const served = await workplace.serve(['--demo']);
    const headers = { authorization: `Bearer ${served.greeting.demo?.key}` };
    const answer = await fetch(`${served.greeting.address}/api/v1/invoices/${SETTLED}/pdf`, { headers });
    t.strictSame(Buffer.from(await answer.arrayBuffer()), bytes);
  });
}

t.test('the e-invoice of a document is written in either syntax, where it has one', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.json(['demo']);
  const out = join(workplace.folder, 'invoice.xml');
  const command = (id: string, format: string) =>
    workplace.call(['document', 'xml', id, '--company', 'brennan', '--format', format, '--out', out]);
  for (const [format, root] of [
    ['ubl', '<Invoice xmlns='],
    ['cii', '<rsm:CrossIndustryInvoice '],
  ] as const) {
    t.match(await command(SETTLED, format), {
      exitCode: 0,
      stdout: /^INV-2026-0001: [\d,]+ bytes, written to /,
    });
    t.ok(readFileSync(out, 'utf8').includes(root), format);
  }
  const before = readFileSync(out);
  t.match(await command(DRAFT, 'ubl'), { exitCode: 1, stderr: /A draft has no e-invoice/ });
  t.match(await command(ABSENT, 'ubl'), { exitCode: 1, stderr: /has no document/ });
  t.match(await command(SETTLED, 'edifact'), { exitCode: 2, stderr: /Allowed choices are cii, ubl/ });
  t.strictSame(readFileSync(out), before, 'nothing was written');
});

t.test('a PDF replaces a file as a whole, or leaves it as it was', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.json(['demo']);
  const folder = join(workplace.folder, 'pdfs');
  mkdirSync(folder);
  const out = join(folder, 'draft.pdf');
  writeFileSync(out, 'old');
  const command = (path: string) => workplace.call(['document', 'pdf', DRAFT, '--out', path]);
  t.match(await command(out), {
    exitCode: 0,
    stdout: /^draft-01a1ef7b-\S+: \d+,\d+ bytes, written to \S+draft\.pdf\n$/,
  });
  t.match(readFileSync(out, 'latin1'), /^%PDF-/);
  t.strictSame(readdirSync(folder), ['draft.pdf']);
  const fresh = join(folder, 'fresh.pdf');
  t.match(await command(fresh), { exitCode: 0 });
  t.equal(statSync(fresh).mode & 0o777, 0o600, 'a new one is its owner’s, whatever the umask says');
  t.match(await command(join(folder, 'none', 'draft.pdf')), {
    exitCode: 1,
    stderr: /There is no folder ".*none"\./,
  });
  t.match(await command(folder), { exitCode: 1, stderr: /is a folder\./ });
  t.match(await workplace.call(['document', 'pdf', ABSENT, '--out', join(folder, 'absent.pdf')]), {
    exitCode: 1,
    stderr: `fieldledger: No company has a document "${ABSENT}".\n`,
  });
  t.notOk(existsSync(join(folder, 'absent.pdf')));
});

t.test('a statement of account is written of an issued invoice alone', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.json(['demo']);
  const command = (id: string) => ['document', 'statement', id, '--out', join(workplace.folder, 'st.pdf')];
  const { name, bytes } = await workplace.json<{ name: string; bytes: number }>(command(SETTLED));
  t.match(name, /^statement-INV-2026-0001-\d{4}-\d\d-\d\d$/);
  t.equal(statSync(join(workplace.folder, 'st.pdf')).size, bytes);
  t.match(await workplace.call(command(DRAFT)), {
    exitCode: 1,
    stderr: `fieldledger: The document "${DRAFT}" is no issued invoice, and has no statement.\n`,
  });
});

t.test('a PDF goes to standard output, and what is said of it to standard error', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.json(['demo']);
  const { exitCode, stdout, stderr } = await workplace.call([
    ...['document', 'pdf', SETTLED, '--out', '-', '--json'],
  ]);
  t.equal(exitCode, 0);
  const bytes = Buffer.from(stdout, 'latin1');
  t.match(JSON.parse(stderr), { sha256: sha256(bytes), bytes: bytes.length, file: null });
  // Through a real pipe, which takes less at a time than the whole.
  const piped = await workplace.run(['document', 'pdf', SETTLED, '--out', '-']);
  t.equal(piped.exitCode, 0);
  t.equal(piped.stdout, bytes.toString('utf8'));
});

t.test('a document is checked item by item, whatever state it is in', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.json(['demo']);
  const settled = await workplace.call(['document', 'check', SETTLED]);
  t.equal(settled.exitCode, 0);
  t.match(settled.stdout, /^invoice INV-2026-0001: \d+ items, nothing is missing\npresent {2}/);
  t.match(settled.stdout, /^present {2}the supplier's VAT number \(IE reg\. 20\(2\)\(c\)/m);
  t.notMatch(settled.stdout, /MISSING/);
  const { items, ...rest } = await workplace.json<{ items: object[] }>(['document', 'check', SETTLED]);
  t.strictSame(rest, { id: SETTLED, kind: 'invoice', status: 'issued', number: 'INV-2026-0001' });
  t.ok(items.length > 10);
  t.match(items[0], { item: "the supplier's full name", source: /EN 16931/, problem: null });
  t.match(
    (await workplace.call(['document', 'check', DRAFT])).stdout,
    /^invoice 01a1ef7b-\S+, a draft: \d+ items/,
  );
});

t.test(
  'each gap of a draft is named until it is filled, and an issued document is judged as it was',
  async (t) => {
    await using workplace = await openWorkplace();
    const set = (...settings: string[]) => workplace.json(['company', 'set', 'acme', ...settings]);
    await workplace.json([
      'company',
      'create',
      'acme',
      '--country-code',
      'IE',
      '--legal-name',
      'Acme Limited',
    ]);
    await apply(workplace, 'acme', [
      customerSave({ id: 'cus_1', addressLines: ['1 Quay Street'] }),
      invoiceDraft({ id: OWN }),
    ]);
    const check = () => workplace.call(['document', 'check', OWN, '--company', 'acme']);
    const lacking = await check();
    t.equal(lacking.exitCode, 1);
    t.match(lacking.stdout, /: \d+ items, 2 missing\n/);
    t.match(
      lacking.stdout,
      /^MISSING {2}the supplier's address \(.*\): the company's profile has no addressLines$/m,
    );
    t.match(lacking.stdout, /^MISSING {2}the supplier's VAT number \(.*\): .*no vatId/m);
    await set('--address-lines', '2 Dock Road', '--vat-id', 'IE9876543H');
    t.equal((await check()).exitCode, 0);
    await apply(workplace, 'acme', [issue(OWN)]);
    await set('--vat-id', 'FR11123456782');
    t.equal((await check()).exitCode, 0, 'its supplier is the one of its issue');
    const json = await workplace.call(['document', 'check', OWN, '--json']);
    t.match(JSON.parse(json.stdout), { id: OWN, status: 'issued', number: /^INV-\d{4}-0001$/ });
  },
);

t.test('a document is found by its id alone while one company has it', async (t) => {
  await using workplace = await openWorkplace();
  for (const company of ['acme', 'other']) {
    await workplace.json(['company', 'create', company, '--api', '--invoicing']);
    await apply(workplace, company, [customerSave({ id: 'cus_1' }), invoiceDraft({ id: OWN })]);
  }
  const check = (...args: string[]) => workplace.call(['document', 'check', ...args]);
  t.equal(
    (await check(OWN)).stderr,
    `fieldledger: The companies "acme", "other" have a document "${OWN}"; name one with --company.\n`,
  );
  t.equal(
    (await check(OWN, '--company', 'acme')).stderr,
    "fieldledger: The company's profile has no country; documents can be issued for IE and GB.\n",
  );
  t.equal(
    (await check(ABSENT, '--company', 'acme')).stderr,
    `fieldledger: The company "acme" has no document "${ABSENT}".\n`,
  );
  t.equal((await check(OWN, '--company', 'none')).stderr, 'fieldledger: There is no company "none".\n');
  t.equal(
    (await check(OWN.toUpperCase(), '--company', 'acme')).stderr,
    (await check(OWN, '--company', 'acme')).stderr,
    'an id in upper case is the same id',
  );
});

t.test('a server hands documents over to a folder, and a command has one handed over again', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.json(['demo']);
  await workplace.json(['company', 'set', 'brennan', '--hand-over']);
  await apply(workplace, 'brennan', [issue(DRAFT)]);
  const folder = join(workplace.folder, 'outbox');
  mkdirSync(folder);
  await workplace.serve([], { ACCESS_POINT_FOLDER: folder });
  const documents = () => readdirSync(folder).filter((file) => file.endsWith('.xml'));
  const arrived = () => until(() => documents().length > 0);
  await arrived();
  const [name = ''] = documents();
  t.match(name, /^brennan_[\w-]+_01a1ef7b-a420-7b42-8594-7b990f1a8c5f\.xml$/);
  const path = join(folder, name);
  const first = readFileSync(path, 'utf8');
  t.match(first, /^<\?xml [^>]*>\s*<Invoice /);
  rmSync(path);
  t.match(await workplace.call(['document', 'hand-over', DRAFT]), {
    exitCode: 0,
    stdout: /handed over again/,
  });
  await arrived();
  t.equal(readFileSync(path, 'utf8'), first);
  t.match(await workplace.call(['document', 'hand-over', SETTLED]), {
    exitCode: 1,
    stderr: /hands no document/,
  });
});
