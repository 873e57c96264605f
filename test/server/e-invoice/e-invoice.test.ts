// Long: it holds every example in both syntaxes against the rules of EN 16931.
import { Profile, validateXsd } from '@stackforge-eu/factur-x';
import type { Document } from 'slimdom';
import t, { type Test } from 'tap';

import { eInvoiceText, hasEInvoice } from '../../../src/server/e-invoice/e-invoice.ts';
import type { PrintedDocument } from '../../../src/server/printed-document/printed-document.ts';
import { openTestDatabase } from '../../_server.ts';
import { creditNoteOf, invoiceDraft, issued, openIssuer, payment, refund } from '../backoffice/_documents.ts';
import { createTestBackoffice } from '../backoffice/_backoffice.ts';
import { documentsByName, exampleDocuments, printedDocument } from '../invoice-pdf/_documents.ts';
import { applicableRules, brokenRules, rules } from './_en16931-rules.ts';
import { terms, termsIn } from './_terms.ts';
import { parseXml, valueOf, valuesOf } from '../invoice-pdf/_xml.ts';

const examples = await exampleDocuments();
const documentNamed = await documentsByName();

function read(document: PrintedDocument): Document {
  return parseXml(eInvoiceText(document, 'cii'));
}

/** The terms that the e-invoice of an example says. */
const termsOf = (name: string) => termsIn(read(documentNamed(name)));

/** Holds an example to terms that are said once, or not at all. */
function says(t: Test, name: string, expected: Record<string, string | undefined>): void {
  const terms = Object.keys(expected);
  const said = termsOf(name);
  t.strictSame(
    terms.map((term) => [term, said[term]]),
    terms.map((term) => [term, expected[term] === undefined ? undefined : [expected[term]]]),
    name,
  );
}

/** Those that have one, which is read once. */
const withEInvoice = examples
  .filter(({ document }) => hasEInvoice(document))
  .map(({ name, document }) => ({ name, document, xml: read(document) }));

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
  for (const { name, document } of examples) {
    const { kind, status } = document.record;
    if (status === 'issued' && kind !== 'pro_forma') continue;
    t.notOk(hasEInvoice(document), name);
    t.throws(() => eInvoiceText(document, 'cii'), {
      message: `The document ${document.record.id} has no e-invoice.`,
    });
  }
});

t.test('every e-invoice follows the schema and the rules of EN 16931', async (t) => {
  for (const { name, document, xml: parsed } of withEInvoice) {
    const xml = eInvoiceText(document, 'cii');
    const { valid, errors } = await validateXsd(xml, Profile.EN16931);
    t.ok(valid, `${name}: the schema of Factur-X, EN 16931`, { errors });
    t.strictSame(brokenRules(parsed), [], `${name}: the rules of EN 16931`);
    t.equal(eInvoiceText(structuredClone(document), 'cii'), xml, `${name}: the same each time`);
  }
});

t.test('both syntaxes say the same', async (t) => {
  const said = new Set<string>();
  for (const { name, document, xml } of withEInvoice) {
    const inCii = termsIn(xml);
    t.strictSame(termsIn(parseXml(eInvoiceText(document, 'ubl'))), inCii, name);
    for (const term of Object.keys(inCii)) said.add(term);
  }
  t.strictSame(
    terms.filter((term) => !said.has(term)),
    [],
    'each term is said by some document',
  );
});

t.test('the terms that are given are said', (t) => {
  t.match(termsOf('invoice with every term'), {
    'BT-20': ['Interest runs at 8 % above the base rate.\n2 % discount within 10 days.'],
    'BT-72': ['20261105'],
    'BT-126': ['10', '2'],
    'BT-147': ['12.5'],
    'BT-148': ['112.5'],
  });
  t.match(termsOf('credit_note with every term'), { 'BT-20': ['2 % discount within 10 days.'] });
  const exempt = { 'BT-8': ['432'], 'BT-116': ['100.00', '4.00'], 'BT-121': ['VATEX-EU-135-1'] };
  t.match(termsOf('invoice with more terms, 1'), { 'BT-3': ['875'], ...exempt });
  t.match(termsOf('invoice with more terms, 2'), {
    ...{ 'BT-3': ['384'], 'BT-8': ['35'], 'BT-134': undefined, 'BT-135': ['20261114'] },
    ...{ 'BT-136': ['5.00'], 'BT-137': ['80.00'], 'BT-138': undefined },
  });
  // 66.67 for 1,000 has 12.47 of VAT; a tenth of 0.3333 without VAT of 23 % is 0.0271.
  const exact = { 'BT-146': ['0.0542'], 'BT-147': ['0.027097560976'], 'BT-148': ['0.081297560976'] };
  t.match(termsOf('invoice with more terms, 3'), exact);
  t.end();
});

t.test('every rule has an e-invoice to look at', async (t) => {
  const applied = new Set(withEInvoice.flatMap(({ xml }) => applicableRules(xml)));
  const others = rules.map(({ name }) => name).filter((name) => !applied.has(name));
  t.strictSame(others, []);
});

t.test('an invoice says who, when, what and how to pay', (t) => {
  says(t, 'issued invoice, Irish, four rates', {
    ...{ 'BT-1': 'INV-2026-0001', 'BT-3': '380', 'BT-2': '20261120', 'BT-10': 'Cost centre 12' },
    ...{ 'BT-13': 'PO-2026-118', 'BT-72': '20261120', 'BT-9': '20261220' },
    // The company, with its trading name, numbers, address and telephone.
    ...{ 'BT-27': 'Brennan Heating & Electrical Limited', 'BT-28': 'Brennan Heating' },
    ...{ 'BT-30': '654321', 'BT-31': 'IE6388047V', 'BT-36': 'Dublin 12', 'BT-38': 'D12 Y8X4' },
    ...{ 'BT-42': '+353 1 555 0123' },
    // The customer.
    ...{ 'BT-44': 'Harbour View Hotel Limited', 'BT-45': 'Harbour View Hotel' },
    ...{ 'BT-48': 'IE1234567T', 'BT-55': 'IE' },
    // The payment.
    ...{ 'BT-81': '58', 'BT-84': 'IE29AIBK93115212345678', 'BT-86': 'AIBKIE2DXXX' },
    ...{ 'BT-85': 'Brennan Heating & Electrical Ltd', 'BT-83': 'INV-2026-0001' },
  });
  t.end();
});

t.test('a credit note names its invoice and its reason, and asks for no payment', (t) => {
  says(t, 'a credit note for a part, with a reason over lines', {
    ...{ 'BT-1': 'CN-2026-0001', 'BT-3': '381', 'BT-13': 'PO-7', 'BT-112': '0.63' },
    'BT-21, BT-22': 'One valve came back.\nThe box was damaged.',
    ...{ 'BT-25': 'INV-2026-0001', 'BT-26': '20261120', 'BT-81': undefined, 'BT-83': undefined },
    'BT-20': 'It reduces what is due on invoice INV-2026-0001.',
  });
  t.end();
});

t.test('each situation has its category, reason and code', async (t) => {
  const toPay = 'AE 0.00 Reverse charge: Customer to pay the VAT to HMRC';
  const toAccount = 'AE 0.00 Reverse charge: Customer to account for the output tax adjustment of';
  const situations: [name: string, onInvoice: string[], onCreditNote?: string[]][] = [
    ['Irish, one rate', ['S 23.00 - -']],
    ['Irish, zero-rated', ['Z 0.00 - -']],
    ['Irish, exempt', ['E 0.00 Exempt: VATCA 2010 Sch 1 para 7 -']],
    [
      'Irish, construction under reverse charge',
      ['AE 0.00 VAT on this supply to be accounted for by the Principal Contractor. VATEX-EU-AE'],
    ],
    ['Irish, goods to France', ['K 0.00 Intra-Community supply of goods VATEX-EU-IC']],
    ['Irish, export in dollars', ['G 0.00 Export outside the EU VATEX-EU-G']],
    ['Irish, of a company that is not registered', ['O - Not subject to VAT VATEX-EU-O']],
    [
      'British, domestic reverse charge at one rate',
      [`${toPay} (20% = £2,500.00) -`],
      [`${toAccount} £2,500.00 to HMRC (20% = £2,500.00) -`],
    ],
    [
      'British, domestic reverse charge in euro',
      [`${toPay} (20% = €2,500.00 = £2,132.75) -`],
      [`${toAccount} £2,132.75 to HMRC (20% = €2,500.00 = £2,132.75) -`],
    ],
    ['British, export to Ireland in euro', ['G 0.00 Zero-rated export -']],
    ['Northern Irish, goods to Ireland', ['K 0.00 Intra-Community supply of goods VATEX-EU-IC']],
  ];
  const item = ['CategoryCode', 'RateApplicablePercent', 'ExemptionReason', 'ExemptionReasonCode'];
  const path = `//ram:ApplicableHeaderTradeSettlement/ram:ApplicableTradeTax ! string-join((${item
    .map((name) => `(ram:${name}, '-')[1]`)
    .join(', ')}), ' ')`;
  for (const [name, onInvoice, onCreditNote = onInvoice] of situations) {
    const kinds = { invoice: onInvoice, credit_note: onCreditNote };
    for (const [kind, expected] of Object.entries(kinds)) {
      t.strictSame(
        valuesOf(read(documentNamed(`issued ${kind}, ${name}`)), path),
        expected,
        `${kind}: ${name}`,
      );
    }
  }
});

t.test('a document in a foreign currency states its VAT in the national one', (t) => {
  says(t, 'issued invoice, Irish, taxed in dollars', {
    ...{ 'BT-5': 'USD', 'BT-6': 'EUR', 'BT-110': '54.31', 'BT-111': '46.78', 'BT-81': '30' },
    'BT-21, BT-22': '1 USD = 0.8613 EUR (ECB, 2026-11-19)',
  });
  // Yen have no decimals.
  says(t, 'issued invoice, Irish, taxed in yen', { 'BT-112': '34139' });
  t.end();
});

t.test('the site and the period of the work are named', (t) => {
  const name = 'a private person, a site, a period and references';
  says(t, name, {
    ...{ 'BT-70': 'Boiler house', 'BT-78': 'H91 E2V8', 'BT-80': 'IE', 'BT-72': '20261114' },
    ...{ 'BT-73': '20261101', 'BT-74': '20261114' },
    ...{ 'BT-44': 'Máire Ní Bhriain', 'BT-45': undefined, 'BT-47': undefined },
    'BT-58': 'maire@home.example',
  });
  t.strictSame(
    valuesOf(read(documentNamed(name)), '//ram:BuyerTradeParty/ram:SpecifiedLegalOrganization'),
    [],
  );
  says(t, 'goods to a site in Germany', { 'BT-80': 'DE' });
  // Without a site, goods go to the customer.
  says(t, 'issued invoice, Irish, goods to France', { 'BT-80': 'FR' });
  t.end();
});

t.test('an invoice in advance says that its issue is the tax point', async (t) => {
  const withCode = withEInvoice
    .map(({ name, xml }) => [name, valuesOf(xml, '//ram:DueDateTypeCode')[0]])
    .filter(([name, code]) => code !== undefined && !name?.includes('with more terms'));
  t.strictSame(withCode, [['issued invoice, British, a year in advance', '5']]);
});

t.test('text comes out of the parser as it went in', async (t) => {
  for (const { name, document, xml } of withEInvoice) {
    const { buyer, lines } = document.record;
    // Characters that XML can't write are not kept, nor is the kind of a space.
    const kept = (text: string) =>
      text
        .replace(/[\u0000-\u0008\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
        .replace(/\s+/g, ' ')
        .trim();
    t.equal(valueOf(xml, '//ram:BuyerTradeParty/ram:Name'), kept(buyer.legalName ?? buyer.name), name);
    const products = valuesOf(
      xml,
      `//ram:SpecifiedTradeProduct ! string-join((ram:Name, ram:Description), ' ')`,
    );
    t.strictSame(
      products.map(kept),
      lines.map(({ description }) => kept(description)),
      name,
    );
  }
});

t.test('payments, refunds and credit notes after the issue change nothing', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const testBackoffice = createTestBackoffice(database);
  const company = await openIssuer(testBackoffice);
  const invoice = await issued(company, invoiceDraft());
  const printed = () => printedDocument(testBackoffice.engine, company, invoice.id);
  const before = eInvoiceText(await printed(), 'cii');
  await company.apply(payment(invoice, { amountMinor: 10_000 }));
  await company.apply(refund(invoice));
  await issued(company, creditNoteOf(invoice, { lines: invoiceDraft().with.lines ?? [] }));
  const after = await printed();
  t.equal(after.record.payments?.length, 1);
  t.equal(after.record.creditNotes.length, 1);
  t.equal(eInvoiceText(after, 'cii'), before);
});
