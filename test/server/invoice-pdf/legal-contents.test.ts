import t from 'tap';

import { compactAccount } from '../../../src/contract/ibans.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import type { PrintedDocument } from '../../../src/server/printed-document/printed-document.ts';
import { exampleDocuments, textsOf } from './_documents.ts';

const printed = (await exampleDocuments()).map(({ name, document }) => ({
  name,
  document,
  text: squeezed(textsOf(document).join(' ')),
}));

/** Without space, and with one kind of minus. */
function squeezed(text: string): string {
  return text.replace(/\s/g, '').replaceAll('\u2212', '-');
}

/** A thing that the law asks for, and how it reads on this document. */
type Item = readonly [item: string, ...texts: (string | null | undefined)[]];

function amount(amountMinor: number, currency: string, display: 'symbol' | 'none' = 'none'): string {
  const symbols = new Intl.NumberFormat('en-GB', { style: 'currency', currency });
  const digits = symbols.resolvedOptions().maximumFractionDigits ?? 0;
  const text = String(Math.abs(amountMinor)).padStart(digits + 1, '0');
  const decimal = `${text.slice(0, text.length - digits)}.${text.slice(text.length - digits)}`;
  const whole = symbols.format(decimal as Intl.StringNumericLiteral);
  return (amountMinor < 0 ? '-' : '') + (display === 'symbol' ? whole : whole.replace(/^[^\d]+/, ''));
}

function date(day: string | null): string | undefined {
  if (day === null) return undefined;
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(day));
}

const percent = (basisPoints: number) => `${basisPoints / 100}%`;
const country = (code: string) => new Intl.DisplayNames('en-GB', { type: 'region' }).of(code);
const isDomestic = ({ record, supplier }: PrintedDocument) =>
  record.buyer.countryCode === supplier.countryCode;
const isIrishConstruction = (document: PrintedDocument) =>
  document.supplier.countryCode === 'IE' && isDomestic(document) && hasCategory(document.record, 'AE');
const hasCategory = ({ lines }: Invoice, category: string) =>
  lines.some((line) => line.vatCategory === category);

const hasOnly = ({ lines }: Invoice, category: string) =>
  lines.every((line) => line.vatCategory === category);
/** Under a margin scheme the VAT is within the price, and not shown. */
const isMarginOnly = ({ lines }: Invoice) =>
  lines.every(({ vatExemptionReason }) => /^margin scheme/i.test(vatExemptionReason ?? ''));
const isWithoutVat = (record: Invoice) => isMarginOnly(record) || hasOnly(record, 'O');
/** Nothing is said of VAT beside the Irish words. */
const isSilent = (document: PrintedDocument) =>
  isIrishConstruction(document) && hasOnly(document.record, 'AE');

const titles = { invoice: 'Invoice', credit_note: 'Credit note', pro_forma: 'Pro forma invoice' };
/** The words for a line of each category that charges no VAT. */
const categories: Record<string, string> = {
  Z: 'Zero-rated 0%',
  E: 'Exempt',
  AE: 'Reverse charge',
  K: 'Intra-Community 0%',
  G: 'Export 0%',
};

function isInAdvance({ kind, issueDate, supplyPeriod }: PrintedDocument['record']): boolean {
  return kind === 'invoice' && issueDate !== null && issueDate < (supplyPeriod?.endDate ?? '');
}

const asksForPayment = ({ kind, totals }: Invoice) => kind !== 'credit_note' && totals.grossMinor > 0;

const labelled = (label: string, value: string | undefined) =>
  value === undefined ? undefined : `${label} ${value}`;

/** Everything that the check-lists of both countries ask of this document (research 2.2 and 2.3). */
function itemsOf(document: PrintedDocument): Item[] {
  const { record } = document;
  const { issueDate, supplyPeriod, creditedInvoice, totals } = record;
  return [
    ['what it is', titles[record.kind]],
    ['its number (reg. 20(2)(b), 14(1)(a))', record.number],
    ['its date of issue (20(2)(a), 14(1)(c))', labelled('Date of issue', date(issueDate))],
    [
      'the date of the supply (20(2)(h), 14(1)(b))',
      supplyPeriod ? undefined : labelled('Date of supply', date(record.supplyDate)),
    ],
    ['the period of the supply', date(supplyPeriod?.endDate ?? null)],
    [
      'the tax point of what is still to come (14(1)(b))',
      isInAdvance(record) ? labelled('Tax point', date(issueDate)) : undefined,
    ],
    ['the due date', totals.grossMinor > 0 ? labelled('Due date', date(record.dueDate)) : undefined],
    ['references', record.buyerReference, record.purchaseOrderReference],
    ...partiesOf(document),
    ...linesOf(document),
    ...vatOf(document),
    ...sumsOf(document),
    ['the credited invoice (15C(3)(e))', creditedInvoice?.number, date(creditedInvoice?.issueDate ?? null)],
    ['the reason, or a note', record.note?.slice(0, 150)],
    ['the mark of a draft', record.status === 'draft' ? 'DRAFT – not a VAT invoice' : undefined],
    [
      'a pro forma is none',
      record.kind === 'pro_forma' ? 'PRO FORMA – this is not a VAT invoice' : undefined,
    ],
  ];
}

function partiesOf({ record, supplier }: PrintedDocument): Item[] {
  const { buyer } = record;
  const { site } = buyer;
  const foreign = buyer.countryCode === supplier.countryCode ? undefined : country(buyer.countryCode);
  const account = asksForPayment(record) ? supplier.iban?.toUpperCase() : undefined;
  const bic = account && compactAccount(supplier.bic);
  const { legalName, tradingName, addressLines = [], postcode } = supplier;
  return [
    ['the supplier (20(2)(c), 14(1)(d); registered name)', legalName, tradingName, ...addressLines, postcode],
    ["the supplier's VAT number", labelled('VAT no.', supplier.vatId)],
    ["the company's number", labelled('Company no.', supplier.companyNumber)],
    ['how to reach and to pay it', supplier.phone, supplier.email, account, bic],
    ['the customer (20(2)(d), 14(1)(e))', buyer.legalName ?? buyer.name, buyer.name],
    ['where the customer is', ...buyer.addressLines, foreign],
    ["the customer's VAT number (20(2)(e))", labelled('VAT no.', buyer.vatId ?? undefined)],
    ['the site', site?.label, ...(site?.addressLines ?? []), site?.postcode],
  ];
}

/** Each line as it reads from left to right: description, quantity, unit, price, VAT, amount (20(2)(g) to (j), 14(1)(g), (h), (m)). */
function linesOf(document: PrintedDocument): Item[] {
  const { record, amounts } = document;
  return record.lines.map((line) => {
    const details = amounts?.lines[line.id];
    // A price that the record has rounded is shown as it was given.
    const price = details ? [] : [amount(line.unitPriceMinor, record.currency)];
    const shown = amount(details?.grossMinor ?? line.amountMinor, record.currency);
    const row = [...price, vatOfLine(document, line), shown].join(' ');
    return [`line ${line.position}`, line.description.slice(0, 150), row];
  });
}

function vatOfLine(document: PrintedDocument, line: Invoice['lines'][number]): string {
  const { vatCategory, vatExemptionReason, vatRateBasisPoints } = line;
  if (hasOnly(document.record, 'O')) return '';
  if (vatExemptionReason?.toLowerCase().startsWith('margin scheme') === true) return 'Margin scheme';
  const words = categories[vatCategory] ?? percent(vatRateBasisPoints);
  const rate = document.reverseChargeRates[line.id];
  return rate === undefined || isIrishConstruction(document) ? words : `${words} ${percent(rate)}`;
}

/** Net and VAT of each rate, in the currencies that have to be stated, and the words for what isn't taxed. */
function vatOf(document: PrintedDocument): Item[] {
  const { record, reverseChargeRates } = document;
  const { accountingCurrency: national, currency } = record;
  const reasons = record.lines.map(({ vatExemptionReason }) => vatExemptionReason);
  const why: Item = ['why there is no VAT (20(2)(e), 14(1)(n) to (p))', ...reasons];
  if (isWithoutVat(record)) return [why];
  const rows = (breakdown: Invoice['vatBreakdown'], code: string) =>
    breakdown
      .filter(({ category }) => category !== 'AE' || !isIrishConstruction(document))
      .map(({ taxableMinor, vatMinor }) => `${amount(taxableMinor, code)} ${amount(vatMinor, code)}`);
  const isBritish = document.supplier.countryCode === 'GB' && isDomestic(document);
  const notional = isBritish ? record.lines.filter(({ vatCategory }) => vatCategory === 'AE') : [];
  return [
    ['the VAT at each rate', ...rows(record.vatBreakdown, currency)],
    ...(national ? nationalItems(national, rows(national.vatBreakdown, national.currency), currency) : []),
    why,
    [
      'the rate of the British reverse charge',
      ...notional.map(({ id }) => percent(reverseChargeRates[id] ?? 0)),
    ],
  ];
}

function nationalItems(
  national: NonNullable<Invoice['accountingCurrency']>,
  rows: readonly string[],
  currency: string,
): Item[] {
  const { totals, currency: own, exchangeRate, exchangeRateSource, exchangeRateDate } = national;
  const source = `(${exchangeRateSource}, ${date(exchangeRateDate) ?? ''})`;
  return [
    ['net and VAT at each rate in the national currency (s.37(4), 14(1)(l))', ...rows],
    ['its totals', `Total ${amount(totals.netMinor, own)} ${amount(totals.vatMinor, own)}`],
    ['the rate of exchange, its source and its date', `1 ${currency} = ${exchangeRate} ${own} ${source}`],
  ];
}

function sumsOf(document: PrintedDocument): Item[] {
  const { record } = document;
  const { currency, totals } = record;
  const sum = (label: string, amountMinor: number) => `${label} ${amount(amountMinor, currency, 'symbol')}`;
  const hasVat = totals.vatMinor !== 0;
  const credit = hasVat ? 'Credit including VAT' : 'Total credit';
  const total = hasVat ? 'Total including VAT' : 'Total';
  const asked = record.status === 'draft' ? total : 'Amount due';
  const net = isWithoutVat(record) ? undefined : sum('Total excluding VAT', totals.netMinor);
  const vat = isWithoutVat(record) || isSilent(document) ? undefined : sum('Total VAT', totals.vatMinor);
  const label = record.kind === 'credit_note' ? credit : asked;
  return [
    ['the total without VAT (14(1)(i))', net],
    ['the total VAT', vat],
    ['what it comes to', sum(label, record.amountDueMinor ?? totals.grossMinor)],
  ];
}

t.test('every document shows each item of the legal check-lists that applies to it', async (t) => {
  for (const { name, document, text } of printed) {
    const missing = itemsOf(document).flatMap(([item, ...texts]) =>
      texts
        .filter((expected) => typeof expected === 'string' && !text.includes(squeezed(expected)))
        .map((expected) => `${item}: ${String(expected)}`),
    );
    t.strictSame(missing, [], name);
  }
});

/** What must not be read on a document: where, why, and which texts. */
function forbiddenOn(document: PrintedDocument): [is: boolean, item: string, pattern: RegExp][] {
  const { record, supplier } = document;
  const { kind, status, buyer } = record;
  const hasNoNumbers = supplier.vatId === undefined && buyer.vatId === null;
  const asking = /Pleasepay|Amountdue|Duedate|topaytheVAT|forthecustomertopay/i;
  return [
    [status === 'draft', 'a draft asks for no money', /Pleasepay|Amountdue/],
    [status !== 'draft', 'it is no draft', /DRAFT/],
    [kind !== 'pro_forma', 'it is no pro forma', /PRO ?FORMA/i],
    [isSilent(document), 'no rate and no amount (Tax Briefing 69)', /\d%|TotalVAT|VAT\(|Rate/],
    [isWithoutVat(record), 'no columns of VAT', /TotalVAT|VATsummary|\d%|excludingVAT/],
    [hasNoNumbers, 'no VAT number of one who has none', /VATno/],
    [kind === 'credit_note', 'a credit note asks for no money and no VAT', asking],
    [true, 'nothing is unknown', /undefined|null|NaN|\[object/],
  ];
}

t.test('no document shows what it must not', async (t) => {
  for (const { name, document, text } of printed) {
    const found = forbiddenOn(document)
      .filter(([is, , pattern]) => is && pattern.test(text))
      .map(([, item]) => item);
    t.strictSame(found, [], name);
  }
});

t.test('the amount of a British reverse charge is stated, and is not in the totals', async (t) => {
  const charged = printed.filter(
    ({ document }) =>
      document.supplier.countryCode === 'GB' && isDomestic(document) && hasCategory(document.record, 'AE'),
  );
  for (const { name, document, text } of charged) {
    const { record, reverseChargeRates } = document;
    const rates = new Set(
      record.lines.map(({ id }) => reverseChargeRates[id] ?? 0).filter((rate) => rate > 0),
    );
    for (const rate of rates) {
      const net = record.lines
        .filter(({ id }) => reverseChargeRates[id] === rate)
        .reduce((sum, { amountMinor }) => sum + amountMinor, 0);
      const vatMinor = Math.round((net * rate) / 10_000);
      t.match(text, amount(vatMinor, record.currency, 'symbol'), name);
      const { exchangeRate, currency } = record.accountingCurrency ?? {};
      if (currency === undefined) continue;
      const ownMinor = Math.round(vatMinor * Number(exchangeRate));
      t.match(text, amount(ownMinor, currency, 'symbol'), `${name}: in sterling too (14(1)(l))`);
    }
  }
});

t.test('a credit note under the British reverse charge states the adjustment of the tax', async (t) => {
  const words: Record<string, string> = {
    'at one rate': 'Reverse charge: Customer to account for the output tax adjustment of £2,500.00 to HMRC',
    'in words of its own, in euro':
      'Customer to account for the output tax adjustment of €625.00 = £533.19 (5% of €12,500.00) to HMRC.',
    // Only some lines are marked.
    'at two rates beside taxed and exempt':
      'Customer to account to HMRC for the adjustment to reverse charge output tax on the VAT exclusive price of items marked reverse charge.',
  };
  for (const [sale, expected] of Object.entries(words)) {
    const credited = `issued credit_note, British, domestic reverse charge ${sale}`;
    t.match(printed.find(({ name }) => name === credited)?.text, squeezed(expected), sale);
  }
});
