// Long: it tries copies of the template with all sample documents, and starts servers with two of them.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { OWN_TEMPLATE } from '../../../src/server/invoice-pdf/render.ts';
import { openRenderer } from '../../../src/server/invoice-pdf/template-trial.ts';
import { openWorkplace } from '../../_command.ts';
import { textOf } from './_reading.ts';

const folder = mkdtempSync(join(tmpdir(), 'fieldledger-template-'));
t.teardown(() => rmSync(folder, { recursive: true }));

/** A copy of our own template with one text of a file changed. */
function copyWith(file: string, from: string, to: string): string {
  const copy = mkdtempSync(join(folder, 'copy-'));
  cpSync(OWN_TEMPLATE, copy, { recursive: true });
  const text = readFileSync(join(copy, file), 'utf8');
  if (!text.includes(from)) throw new Error(`${file} has no "${from}".`);
  writeFileSync(
    join(copy, file),
    text.replace(from, () => to),
  );
  return copy;
}

/** The reason that a template is refused for; undefined for one that is taken. */
function problemOf(template: string): string | undefined {
  try {
    openRenderer(template);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^DOCUMENT_TEMPLATE names ".*?", which can't be used: /, '');
  }
}

const without = {
  totals: () => copyWith('document.typ', '#totals(said)', ''),
  warning: () => copyWith('document.typ', 'if said.warning != none', 'if false'),
  fault: () => copyWith('document.typ', '#totals(said)', '#totals(unsaid)'),
};

t.test('a template is tried with documents of ten kinds', async (t) => {
  t.equal(problemOf(OWN_TEMPLATE), undefined);
  const capitals = copyWith('document.typ', 'said.head.title)', 'upper(said.head.title))');
  t.equal(problemOf(capitals), undefined, 'it may write capitals');
  const ofFirst = 'with the sample "Invoice INV-2026-0001", ';
  t.equal(problemOf(without.totals()), `${ofFirst}"113.50" isn't on its pages.`);
  t.equal(problemOf(without.fault()), `${ofFirst}it can't be set: unknown variable: unsaid.`);
  t.equal(
    problemOf(without.warning()),
    'with the sample "Pro forma invoice PF-2026-0001", "PRO FORMA – this is not a VAT invoice" isn\'t on its pages.',
  );
});

t.test('a server starts with no template that loses a text, and its documents have a good one', async (t) => {
  await using workplace = await openWorkplace();
  const bad = without.totals();
  const settings = { PORT: '0', LOG_LEVEL: 'silent' };
  const { exitCode, stdout, stderr } = await workplace.run('serve', { ...settings, DOCUMENT_TEMPLATE: bad });
  t.strictSame([exitCode, stdout], [1, '']);
  t.equal(
    stderr.trim(),
    `fieldledger: DOCUMENT_TEMPLATE names "${bad}", which can't be used: with the sample "Invoice INV-2026-0001", "113.50" isn't on its pages.`,
  );
  const good = copyWith('document.typ', '#totals(said)', '#totals(said)\nBy our own template.');
  const { greeting } = await workplace.serve(['--demo'], { DOCUMENT_TEMPLATE: good });
  const headers = { authorization: `Bearer ${greeting.demo?.key}` };
  const path = '/api/v1/invoices/01a0a486-e8e0-7076-ace5-e31611d48e0a/pdf';
  const answer = await fetch(greeting.address + path, { headers });
  t.equal(answer.status, 200);
  t.match(await textOf(Buffer.from(await answer.arrayBuffer())), 'By our own template.');
});
