import t from 'tap';

import { countryCodes, currencyCodes, unitCodes, vatPrefixes } from '../../../src/contract/code-lists.ts';
import { peppolProblems } from '../../../src/server/e-invoice/peppol.ts';
import { documentAllowanceCharges } from '../../../src/server/e-invoice/reading-amounts.ts';
import { toEInvoice } from '../../../src/server/e-invoice/reading.ts';
import { inexpressible } from '../../../src/server/e-invoice/expressible.ts';
import { eInvoiceText, hasEInvoice } from '../../../src/server/e-invoice/e-invoice.ts';
import type { PrintedDocument } from '../../../src/server/printed-document/printed-document.ts';
import { documentsByName } from '../invoice-pdf/_documents.ts';
import { richTerms } from '../invoice-pdf/_rich-documents.ts';
import { brokenRules } from './_en16931-rules.ts';
import { parseXml, valueOf, valuesOf } from '../invoice-pdf/_xml.ts';

const documentNamed = await documentsByName();

type Breaking = (document: PrintedDocument) => unknown;

/** A document in which something is otherwise. */
function changed(name: string, change: Breaking): PrintedDocument {
  const document = structuredClone(documentNamed(name));
  change(document);
  return document;
}

const domestic = 'issued invoice, Irish, one rate';

t.test('there is no e-invoice of what the norm can’t say', async (t) => {
  const unnamed = 'issued invoice, Irish, of a company that is not registered';
  const atSite = 'goods to a site in Germany';
  const impossible: [problem: string, change: Breaking, name?: string][] = [
    ['currency is "XYZ", which is none of ISO 4217', ({ record }) => (record.currency = 'XYZ')],
    ['currency is "KWD", which has amounts with three', ({ record }) => (record.currency = 'KWD')],
    ['buyer/countryCode is "ZZ", which is no country', ({ record }) => (record.buyer.countryCode = 'ZZ')],
    ['the company\'s countryCode is "", which is no country', ({ supplier }) => delete supplier.countryCode],
    [
      'buyer/site/countryCode is "QQ"',
      ({ record: { buyer } }) => buyer.site && (buyer.site.countryCode = 'QQ'),
      atSite,
    ],
    ['buyer/vatId is "EU123456", which has no prefix', ({ record }) => (record.buyer.vatId = 'EU123456')],
    ['buyer/name is blank', ({ record }) => (record.buyer.legalName = ' \n ')],
    [
      'terms/supportingDocuments/0/reference is blank',
      (document) => (document.terms = { supportingDocuments: [{ reference: ' ' }] }),
    ],
    ['lines/0/description is blank', ({ record: { lines } }) => lines[0] && (lines[0].description = '\t')],
    ['the VAT category is "L"', ({ record }) => record.vatBreakdown.forEach((item) => (item.category = 'L'))],
    [
      'the rate of 49 basis points',
      ({ record }) => record.vatBreakdown.forEach((item) => (item.rateBasisPoints = 49)),
    ],
    ['number is blank', ({ record }) => (record.number = null)],
    [
      'its amounts come to 5000000000001 minor units',
      ({ record: { lines } }) => lines[0] && (lines[0].amountMinor = 5e12 + 1),
    ],
    ['the company has no vatId, no companyNumber', ({ supplier }) => delete supplier.companyNumber, unnamed],
    ["the VAT number FR11123456782 can't stand beside", (document) => (document.terms = richTerms), unnamed],
  ];
  for (const [problem, change, name = domestic] of impossible) {
    const document = changed(name, change);
    t.notOk(hasEInvoice(document), problem);
    t.throws(() => eInvoiceText(document, 'cii'), /has no e-invoice/, problem);
    t.ok(inexpressible(document)?.startsWith(problem), `${problem}: ${inexpressible(document)}`);
  }
});

t.test('a supplier who isn’t registered for VAT has one by any identifier', async (t) => {
  const document = changed('issued invoice, Irish, of a company that is not registered', ({ supplier }) => {
    delete supplier.companyNumber;
    supplier.identifiers = [{ id: '1234' }];
  });
  t.ok(hasEInvoice(document));
});

t.test('sums up to the limit come out of doubles to the cent, as validators add them', async (t) => {
  const amounts = Array.from({ length: 1000 }, (_, index) => 4_999_999_001 + index);
  const document = changed(domestic, ({ record }) => {
    record.lines = record.lines.flatMap((line) =>
      amounts.map((amountMinor, index) => ({ ...line, position: index + 1, amountMinor })),
    );
  });
  t.ok(hasEInvoice(document));
  const path = '//ram:IncludedSupplyChainTradeLineItem//ram:LineTotalAmount';
  const texts = valuesOf(parseXml(eInvoiceText(document, 'cii')), path);
  const sum = texts.reduce((total, text) => total + Number(text), 0);
  t.equal(Math.round(sum * 100), 4_999_999_500_500);
});

t.test('a unit that isn’t in Recommendation 20 is a mutually defined one, and is named', async (t) => {
  const document = changed(domestic, ({ record: { lines } }) => lines[0] && (lines[0].unitCode = 'PCS'));
  const xml = parseXml(eInvoiceText(document, 'cii'));
  t.equal(valueOf(xml, '//ram:BilledQuantity/@unitCode'), 'ZZ');
  t.equal(valueOf(xml, '//ram:SpecifiedTradeProduct/ram:Description'), 'Unit: PCS');
});

t.test('a bank account that is no IBAN is given as it is', async (t) => {
  for (const iban of ['IE29 AIBK 9311 5212 3456 79', '93115212345678', 'IE29&<>"']) {
    const document = changed(domestic, ({ supplier }) => (supplier.iban = iban));
    const xml = parseXml(eInvoiceText(document, 'cii'));
    const means = '//ram:SpecifiedTradeSettlementPaymentMeans';
    t.equal(valueOf(xml, `${means}/ram:TypeCode`), '30', iban);
    t.equal(valueOf(xml, `${means}//ram:ProprietaryID`), iban.replaceAll(' ', ''), iban);
    t.strictSame(valuesOf(xml, `${means}//ram:IBANID`), [], iban);
  }
});

t.test('an address of many lines has its rest in the third', async (t) => {
  const document = changed(domestic, ({ record: { buyer } }) => {
    buyer.addressLines = ['The Old Mill', ' ', 'Mill Lane', 'Kilmacud', 'Dublin'];
  });
  const lines = '//ram:BuyerTradeParty/ram:PostalTradeAddress/ram:*';
  t.strictSame(valuesOf(parseXml(eInvoiceText(document, 'cii')), lines), [
    'The Old Mill',
    'Mill Lane',
    'Kilmacud, Dublin',
    'IE',
  ]);
});

t.test('a company that accounts in the currency of the document has no second one', async (t) => {
  const document = changed('issued invoice, Irish, taxed in dollars', ({ record }) => {
    if (record.accountingCurrency) record.accountingCurrency.currency = 'USD';
  });
  const xml = parseXml(eInvoiceText(document, 'cii'));
  t.strictSame(valuesOf(xml, '//ram:TaxCurrencyCode'), []);
  t.equal(valuesOf(xml, '//ram:TaxTotalAmount').length, 1);
});

t.test('the VAT in the currency of the accounts has the decimals of that currency', async (t) => {
  const document = changed('issued invoice, Irish, taxed in dollars', ({ record }) => {
    record.currency = 'JPY';
    if (record.accountingCurrency) record.accountingCurrency.totals.vatMinor = 12_345;
  });
  const xml = parseXml(eInvoiceText(document, 'cii'));
  t.equal(valueOf(xml, '//ram:TaxTotalAmount[@currencyID="EUR"]'), '123.45');
});

t.test('the base of a discount has no VAT in it, as its amount has none', async (t) => {
  const given = { percent: '10', baseMinor: 12_300, vatCategory: 'S', vatRateBasisPoints: 2300 } as const;
  const allowances = [{ ...given, amountMinor: 1_000, grossMinor: 1_230 }];
  const none = { given: {}, lines: {}, charges: [], prepayments: [], roundingMinor: 0 };
  const document = changed(domestic, (one) => (one.amounts = { ...none, allowances }));
  t.match(documentAllowanceCharges(document), [{ amount: '10.00', base: '100.00', percent: '10' }]);
});

t.test('no line goes to Peppol whose period leaves its document’s, to either side', async (t) => {
  const problemsOf = (supplyPeriod: { startDate?: string; endDate?: string }) => {
    const document = changed('invoice with every term', ({ terms }) => {
      for (const line of Object.values(terms?.lines ?? {})) line.supplyPeriod = supplyPeriod;
    });
    return peppolProblems(toEInvoice(document));
  };
  t.strictSame(problemsOf({ startDate: '2026-11-01', endDate: '2026-11-14' }), []);
  const problem = /^line \d+ has a supplyPeriod that isn't within the document's$/;
  t.match(problemsOf({ startDate: '2026-10-31' }), [problem]);
  t.match(problemsOf({ endDate: '2026-11-15' }), [problem]);
});

t.test('the code lists have what they are known to have', async (t) => {
  t.equal(unitCodes.size, 2162, 'Recommendation 20, revision 11e, with 21');
  for (const code of ['C62', 'HUR', 'EA', 'KWH', 'E48', 'XBX', 'ZZ']) t.ok(unitCodes.has(code), code);
  for (const code of ['PCS', 'HRS', 'NOS']) t.notOk(unitCodes.has(code), code);
  const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  t.strictSame(
    [...countryCodes].filter((code) => code !== 'XI' && regions.of(code) === undefined),
    [],
  );
  t.equal(countryCodes.size, 250, 'ISO 3166-1 has 249, and Northern Ireland is added');
  t.ok(vatPrefixes.has('EL'));
  for (const code of ['EUR', 'GBP', 'USD', 'CHF', 'PLN', 'JPY']) t.ok(currencyCodes.has(code), code);
  for (const code of ['DEM', 'HRK', 'XXX']) t.notOk(currencyCodes.has(code), code);
});

t.test('the rules notice what is wrong', async (t) => {
  const credit = 'issued credit_note, Irish, one rate';
  const toFrance = 'issued invoice, Irish, goods to France';
  const reversed = 'issued invoice, Irish, reverse charge to France';
  const wrong: [rule: string, name: string, find: RegExp, replace: string][] = [
    ['BR-02', domestic, /<ram:ID>INV-2026-0001</, '<ram:ID> <'],
    ['BR-04, BR-CL-01', domestic, />380</, '>325<'],
    ['BR-07', domestic, /Harbour View Hotel Limited/, ''],
    ['BR-27', domestic, /<ram:ChargeAmount>/, '<ram:ChargeAmount>-'],
    ['BR-CO-10', domestic, /(<ram:LineTotalAmount>16)3/, '$14'],
    ['BR-CO-14', domestic, /(<ram:TaxTotalAmount currencyID="EUR">\d+)\.66/, '$1.67'],
    ['BR-CO-15', domestic, /(<ram:GrandTotalAmount>\d+)\.41/, '$1.42'],
    ['BR-CO-17, BR-S-09', domestic, /(<ram:CalculatedAmount>\d+)\.66/, '$1.68'],
    ['BR-CO-25', domestic, /<ram:DueDateDateTime>.*<\/ram:DueDateDateTime>/, ''],
    ['BR-S-02', domestic, /schemeID="VA">IE6388047V/, 'schemeID="FC">IE6388047V'],
    ['BR-CL-23', domestic, /unitCode="HUR"/, 'unitCode="HRS"'],
    ['CII-DT-097', domestic, />20261120</, '>20261320<'],
    ['BR-55', credit, /<ram:IssuerAssignedID>[^<]*/, '<ram:IssuerAssignedID>'],
    ['BR-IC-12', toFrance, /<ram:ShipToTradeParty>.*<\/ram:ShipToTradeParty>/, ''],
    ['BR-53', 'issued invoice, Irish, taxed in dollars', /(<ram:TaxTotalAmount currencyID=)"EUR"/, '$1"GBP"'],
    ['BR-AE-10', reversed, /<ram:ExemptionReason>.*<\/ram:ExemptionReason>/, ''],
  ];
  for (const [rule, name, find, replace] of wrong) {
    const xml = eInvoiceText(documentNamed(name), 'cii');
    t.match(xml, find, rule);
    t.ok(brokenRules(parseXml(xml.replace(find, replace))).includes(rule), rule);
  }
});
