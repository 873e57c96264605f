import { Profile, validateXsd } from '@stackforge-eu/factur-x';
import t from 'tap';

import { eInvoiceXml, hasEInvoice } from '../../src/invoice-pdf/e-invoice.ts';
import { exampleDocuments } from './_documents.ts';
import { applicableRules, brokenRules, rules } from './_en16931-rules.ts';
import { parseXml } from './_xml.ts';

const examples = await exampleDocuments();
const withEInvoice = examples.filter(({ document }) => hasEInvoice(document));

t.test('issued invoices and credit notes have an e-invoice, and nothing else has', async (t) => {
  const without = examples
    .filter(({ document: { record } }) => record.status === 'issued' && record.kind !== 'pro_forma')
    .filter(({ document }) => !hasEInvoice(document))
    .map(({ name }) => name);
  t.strictSame(without, [
    'issued invoice, Irish, outside the scope of VAT',
    'issued credit_note, Irish, outside the scope of VAT',
    'issued invoice, British, outside the scope of VAT',
    'issued credit_note, British, outside the scope of VAT',
    'the largest amounts',
    'the finest quantity',
    'a currency with three digits',
  ]);
  t.ok(withEInvoice.length >= 60, `${withEInvoice.length} e-invoices`);
  for (const { name, document } of examples) {
    const { kind, status } = document.record;
    if (status === 'issued' && kind !== 'pro_forma') continue;
    t.notOk(hasEInvoice(document), name);
    t.throws(() => eInvoiceXml(document), {
      message: `The document ${document.record.id} has no e-invoice.`,
    });
  }
});

t.test('every e-invoice follows the schema and the rules of EN 16931', async (t) => {
  for (const { name, document } of withEInvoice) {
    const xml = eInvoiceXml(document);
    const { valid, errors } = await validateXsd(xml, Profile.EN16931);
    t.ok(valid, `${name}: the schema of Factur-X, EN 16931`, { errors });
    t.strictSame(brokenRules(parseXml(xml)), [], `${name}: the rules of EN 16931`);
    t.equal(eInvoiceXml(structuredClone(document)), xml, `${name}: the same each time`);
  }
});

t.test('every rule has an e-invoice to look at', async (t) => {
  const applied = new Set(
    withEInvoice.flatMap(({ document }) => applicableRules(parseXml(eInvoiceXml(document)))),
  );
  t.strictSame(
    rules.map(({ name }) => name).filter((name) => !applied.has(name)),
    [],
  );
});
