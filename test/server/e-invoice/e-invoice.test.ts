import { Profile, validateXsd } from '@stackforge-eu/factur-x';
import type { Document } from 'slimdom';
import t from 'tap';

import { eInvoiceText, hasEInvoice } from '../../../src/server/e-invoice/e-invoice.ts';
import type { PrintedDocument } from '../../../src/server/invoice-pdf/printed-document.ts';
import { openTestDatabase } from '../../_server.ts';
import { creditNoteOf, invoiceDraft, issued, openIssuer, payment, refund } from '../backoffice/_documents.ts';
import { createTestBackoffice } from '../backoffice/_backoffice.ts';
import { exampleDocuments, printedDocument } from '../invoice-pdf/_documents.ts';
import { applicableRules, brokenRules, rules } from './_en16931-rules.ts';
import { terms, termsIn } from './_terms.ts';
import { parseXml, valueOf, valuesOf } from '../invoice-pdf/_xml.ts';

const examples = await exampleDocuments();

function exampleOf(name: string): PrintedDocument {
  const found = examples.find((example) => example.name === name);
  if (!found) throw new Error(`There is no example "${name}".`);
  return found.document;
}

function read(document: PrintedDocument): Document {
  return parseXml(eInvoiceText(document, 'cii'));
}

/** A document's text under each path, from the element that the path begins with. */
function said(xml: Document, paths: Record<string, string>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(paths).map(([term, path]) => [term, valueOf(xml, `//${path}`)]));
}

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
  for (const { name, document } of withEInvoice) {
    const xml = eInvoiceText(document, 'cii');
    const { valid, errors } = await validateXsd(xml, Profile.EN16931);
    t.ok(valid, `${name}: the schema of Factur-X, EN 16931`, { errors });
    t.strictSame(brokenRules(parseXml(xml)), [], `${name}: the rules of EN 16931`);
    t.equal(eInvoiceText(structuredClone(document), 'cii'), xml, `${name}: the same each time`);
  }
});

t.test('both syntaxes say the same', async (t) => {
  const said = new Set<string>();
  for (const { name, document } of withEInvoice) {
    const inCii = termsIn(read(document));
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
  const termsOf = (name: string) => termsIn(read(exampleOf(name)));
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
  const applied = new Set(
    withEInvoice.flatMap(({ document }) => applicableRules(parseXml(eInvoiceText(document, 'cii')))),
  );
  t.strictSame(
    rules.map(({ name }) => name).filter((name) => !applied.has(name)),
    [],
  );
});

t.test('an invoice says who, when, what and how to pay', async (t) => {
  const document = exampleOf('issued invoice, Irish, four rates');
  const bank = 'ram:SpecifiedTradeSettlementPaymentMeans';
  t.strictSame(
    said(read(document), {
      number: 'rsm:ExchangedDocument/ram:ID',
      type: 'rsm:ExchangedDocument/ram:TypeCode',
      issued: 'rsm:ExchangedDocument/ram:IssueDateTime',
      reference: 'ram:BuyerReference',
      order: 'ram:BuyerOrderReferencedDocument/ram:IssuerAssignedID',
      seller: 'ram:SellerTradeParty/ram:Name',
      tradingName: 'ram:SellerTradeParty//ram:TradingBusinessName',
      companyNumber: 'ram:SellerTradeParty/ram:SpecifiedLegalOrganization/ram:ID',
      sellerVatId: 'ram:SellerTradeParty/ram:SpecifiedTaxRegistration/ram:ID',
      sellerTown: 'ram:SellerTradeParty//ram:LineTwo',
      eircode: 'ram:SellerTradeParty//ram:PostcodeCode',
      phone: 'ram:SellerTradeParty//ram:CompleteNumber',
      buyer: 'ram:BuyerTradeParty/ram:Name',
      buyerTradingName: 'ram:BuyerTradeParty//ram:TradingBusinessName',
      buyerVatId: 'ram:BuyerTradeParty/ram:SpecifiedTaxRegistration/ram:ID',
      buyerCountry: 'ram:BuyerTradeParty//ram:CountryID',
      supplied: 'ram:ActualDeliverySupplyChainEvent/ram:OccurrenceDateTime',
      means: `${bank}/ram:TypeCode`,
      iban: `${bank}//ram:IBANID`,
      account: `${bank}//ram:AccountName`,
      bic: `${bank}//ram:BICID`,
      remittance: 'ram:PaymentReference',
      due: 'ram:SpecifiedTradePaymentTerms/ram:DueDateDateTime',
    }),
    {
      number: 'INV-2026-0001',
      type: '380',
      issued: '20261120',
      reference: 'Cost centre 12',
      order: 'PO-2026-118',
      seller: 'Brennan Heating & Electrical Limited',
      tradingName: 'Brennan Heating',
      companyNumber: '654321',
      sellerVatId: 'IE6388047V',
      sellerTown: 'Dublin 12',
      eircode: 'D12 Y8X4',
      phone: '+353 1 555 0123',
      buyer: 'Harbour View Hotel Limited',
      buyerTradingName: 'Harbour View Hotel',
      buyerVatId: 'IE1234567T',
      buyerCountry: 'IE',
      supplied: '20261120',
      means: '58',
      iban: 'IE29AIBK93115212345678',
      account: 'Brennan Heating & Electrical Ltd',
      bic: 'AIBKIE2DXXX',
      remittance: 'INV-2026-0001',
      due: '20261220',
    },
  );
});

t.test('a credit note names its invoice and its reason, and asks for no payment', async (t) => {
  const document = exampleOf('a credit note for a part, with a reason over lines');
  t.strictSame(
    said(read(document), {
      number: 'rsm:ExchangedDocument/ram:ID',
      type: 'rsm:ExchangedDocument/ram:TypeCode',
      reason: 'ram:IncludedNote/ram:Content',
      order: 'ram:BuyerOrderReferencedDocument/ram:IssuerAssignedID',
      invoice: 'ram:InvoiceReferencedDocument/ram:IssuerAssignedID',
      invoiceDate: 'ram:InvoiceReferencedDocument/ram:FormattedIssueDateTime',
      terms: 'ram:SpecifiedTradePaymentTerms/ram:Description',
      means: 'ram:SpecifiedTradeSettlementPaymentMeans',
      remittance: 'ram:PaymentReference',
      gross: 'ram:GrandTotalAmount',
    }),
    {
      number: 'CN-2026-0001',
      type: '381',
      reason: 'One valve came back.\nThe box was damaged.',
      order: 'PO-7',
      invoice: 'INV-2026-0001',
      invoiceDate: '20261120',
      terms: 'It reduces what is due on invoice INV-2026-0001.',
      means: undefined,
      remittance: undefined,
      gross: '0.63',
    },
  );
});

t.test('each situation has its category, reason and code', async (t) => {
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
      ['AE 0.00 Reverse charge: Customer to pay the VAT to HMRC (20% = £2,500.00) -'],
      [
        'AE 0.00 Reverse charge: Customer to account for the output tax adjustment of £2,500.00 to HMRC (20% = £2,500.00) -',
      ],
    ],
    [
      'British, domestic reverse charge in euro',
      ['AE 0.00 Reverse charge: Customer to pay the VAT to HMRC (20% = €2,500.00 = £2,132.75) -'],
      [
        'AE 0.00 Reverse charge: Customer to account for the output tax adjustment of £2,132.75 to HMRC (20% = €2,500.00 = £2,132.75) -',
      ],
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
      t.strictSame(valuesOf(read(exampleOf(`issued ${kind}, ${name}`)), path), expected, `${kind}: ${name}`);
    }
  }
});

t.test('a document in a foreign currency states its VAT in the national one', async (t) => {
  const xml = read(exampleOf('issued invoice, Irish, taxed in dollars'));
  t.strictSame(
    said(xml, {
      currency: 'ram:InvoiceCurrencyCode',
      accounted: 'ram:TaxCurrencyCode',
      vat: "ram:TaxTotalAmount[@currencyID = 'USD']",
      accountedVat: "ram:TaxTotalAmount[@currencyID = 'EUR']",
      note: 'ram:IncludedNote/ram:Content',
      means: 'ram:SpecifiedTradeSettlementPaymentMeans/ram:TypeCode',
    }),
    {
      currency: 'USD',
      accounted: 'EUR',
      vat: '54.31',
      accountedVat: '46.78',
      note: '1 USD = 0.8613 EUR (ECB, 2026-11-19)',
      means: '30',
    },
  );
  const yen = read(exampleOf('issued invoice, Irish, taxed in yen'));
  t.equal(valueOf(yen, '//ram:GrandTotalAmount'), '34139', 'yen have no decimals');
});

t.test('the site and the period of the work are named', async (t) => {
  const xml = read(exampleOf('a private person, a site, a period and references'));
  t.strictSame(
    said(xml, {
      site: 'ram:ShipToTradeParty/ram:Name',
      eircode: 'ram:ShipToTradeParty//ram:PostcodeCode',
      country: 'ram:ShipToTradeParty//ram:CountryID',
      start: 'ram:BillingSpecifiedPeriod/ram:StartDateTime',
      end: 'ram:BillingSpecifiedPeriod/ram:EndDateTime',
      supplied: 'ram:ActualDeliverySupplyChainEvent/ram:OccurrenceDateTime',
      buyer: 'ram:BuyerTradeParty/ram:Name',
      organisation: 'ram:BuyerTradeParty/ram:SpecifiedLegalOrganization',
      email: 'ram:BuyerTradeParty//ram:URIID',
    }),
    {
      site: 'Boiler house',
      eircode: 'H91 E2V8',
      country: 'IE',
      start: '20261101',
      end: '20261114',
      supplied: '20261114',
      buyer: 'Máire Ní Bhriain',
      organisation: undefined,
      email: 'maire@home.example',
    },
  );
  t.equal(
    valueOf(read(exampleOf('goods to a site in Germany')), '//ram:ShipToTradeParty//ram:CountryID'),
    'DE',
  );
  t.equal(
    valueOf(
      read(exampleOf('issued invoice, Irish, goods to France')),
      '//ram:ShipToTradeParty//ram:CountryID',
    ),
    'FR',
    'without a site, goods go to the customer',
  );
});

t.test('an invoice in advance says that its issue is the tax point', async (t) => {
  const codes = withEInvoice.map(({ name, document }) => [
    name,
    valuesOf(read(document), '//ram:DueDateTypeCode')[0],
  ]);
  t.strictSame(
    codes.filter(([name, code]) => code !== undefined && !name?.includes('with more terms')),
    [['issued invoice, British, a year in advance', '5']],
  );
});

t.test('text comes out of the parser as it went in', async (t) => {
  for (const { name, document } of examples.filter(
    ({ document: { record } }) => record.status === 'issued',
  )) {
    if (!hasEInvoice(document)) continue;
    const { buyer, lines } = document.record;
    // Characters that XML can't write are not kept, nor is the kind of a space.
    const kept = (text: string) =>
      text
        .replace(/[\u0000-\u0008\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
        .replace(/\s+/g, ' ')
        .trim();
    const xml = read(document);
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
