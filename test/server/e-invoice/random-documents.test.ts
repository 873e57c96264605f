/**
 * Documents in which all is mixed say the same in the API, on their pages and in both e-invoices. `DOCUMENTS=1000` makes that
 * many sales, and `DOCUMENTS_FOLDER` keeps their documents for other validators; `DOCUMENTS_SEED` makes the same again.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Profile, validateXsd } from '@stackforge-eu/factur-x';
import fc from 'fast-check';
import t from 'tap';

import { decimalAmount, decimalText, minorDigits, rateText } from '../../../src/contract/currencies.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { eInvoiceText, hasEInvoice } from '../../../src/server/e-invoice/e-invoice.ts';
import { documentTexts } from '../../../src/server/printed-document/document-texts.ts';
import type { PrintedDocument } from '../../../src/server/printed-document/printed-document.ts';
import { createRenderer } from '../../../src/server/invoice-pdf/render.ts';
import {
  dateText,
  periodText,
  showsVat,
  taxPoints,
  typeNames,
} from '../../../src/server/printed-document/wording.ts';
import { printable } from '../../../src/server/typefaces/letters.ts';
import { openTestDatabase } from '../../_server.ts';
import { createTestBackoffice } from '../backoffice/_backoffice.ts';
import { conformanceProblems } from '../invoice-pdf/_conformance.ts';
import { printedDocument, textsOf } from '../invoice-pdf/_documents.ts';
import { placedTexts } from '../invoice-pdf/_reading.ts';
import { parseXml, valuesOf } from '../invoice-pdf/_xml.ts';
import { brokenRules } from './_en16931-rules.ts';
import { issueSale, randomSale } from './_random-documents.ts';
import { termsIn } from './_terms.ts';

const { DOCUMENTS: count = '20', DOCUMENTS_SEED: given, DOCUMENTS_FOLDER: folder } = process.env;
const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);

type Line = Invoice['lines'][number];
const DAY = /^(\d{4})-(\d\d)-(\d\d)$/;
const PRICE = '//ram:NetPriceProductTradePrice';
const DEBIT = "/*[cbc:ProfileID]/cac:PaymentMeans[cbc:PaymentMeansCode = ('49', '59')]";

const sumOf = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + amount, 0);
const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

/** The terms that the API's record says, in the words of the norm; the numbers of lines and the day of delivery may be others. */
function termsOf(record: Invoice, printed: PrintedDocument): Record<string, (string | null | undefined)[]> {
  const { buyer, vatBreakdown, totals, kind, accountingCurrency: accounted } = record;
  const { typeCode, taxPointCode, delivery } = printed.terms ?? {};
  const text = (minor: number) => decimalAmount(minor, record.currency);
  const isOutside = vatBreakdown.some(({ category }) => category === 'O');
  const rates = (rate: number) => (isOutside ? [] : [decimalText(rate, 2)]);
  return {
    'BT-1': [record.number],
    'BT-2': [record.issueDate],
    'BT-3': [typeCode ?? (kind === 'invoice' ? '380' : '381')],
    'BT-5': [record.currency],
    ...(taxPointCode ? { 'BT-8': [taxPointCode] } : {}),
    'BT-10': [record.buyerReference],
    'BT-13': [record.purchaseOrderReference],
    'BT-44': [oneLine(buyer.legalName ?? buyer.name)],
    'BT-48': isOutside ? [] : [buyer.vatId],
    'BT-55': [buyer.countryCode],
    'BT-56': [buyer.contactName],
    'BT-58': [buyer.email],
    'BT-72': [delivery?.date ?? record.supplyDate],
    'BT-73': [record.supplyPeriod?.startDate],
    'BT-74': [record.supplyPeriod?.endDate],
    'BT-109': [text(totals.netMinor)],
    'BT-110': [text(totals.vatMinor)],
    'BT-111': [accounted && decimalAmount(accounted.totals.vatMinor, accounted.currency)],
    'BT-112': [text(totals.grossMinor)],
    ...termsOfPayment(record, text),
    'BT-116': vatBreakdown.map(({ taxableMinor }) => text(taxableMinor)),
    'BT-117': vatBreakdown.map(({ vatMinor }) => text(vatMinor)),
    'BT-118': vatBreakdown.map(({ category }) => category),
    'BT-119': vatBreakdown.flatMap(({ rateBasisPoints }) => rates(rateBasisPoints)),
    ...termsOfLines(record, printed, rates),
  };
}

function termsOfPayment(
  { totals, payments = [], amountDueMinor, creditBalanceMinor = 0, dueDate }: Invoice,
  text: (minor: number) => string,
): Record<string, (string | null)[]> {
  const paidMinor = sumOf(payments.map(({ amountMinor }) => amountMinor));
  return {
    'BT-9': Math.max(totals.grossMinor, amountDueMinor ?? 0) > 0 ? [dueDate] : [],
    'BT-113': paidMinor === 0 ? [] : [text(paidMinor)],
    ...(amountDueMinor === undefined ? {} : { 'BT-115': [text(amountDueMinor - creditBalanceMinor)] }),
  };
}

/** The same of its lines; `rates` writes a rate where there is one. */
function termsOfLines(
  { lines, currency }: Invoice,
  { terms }: PrintedDocument,
  rates: (rateBasisPoints: number) => string[],
): Record<string, string[]> {
  return {
    'BT-126': lines.map(({ id, position }) => terms?.lines?.[id]?.lineNumber ?? String(position)),
    'BT-129': lines.map(({ quantity }) => quantity),
    'BT-130': lines.map(({ unitCode }) => unitCode),
    'BT-131': lines.map(({ amountMinor }) => decimalAmount(amountMinor, currency)),
    'BT-151': lines.map(({ vatCategory }) => vatCategory),
    'BT-152': lines.flatMap(({ vatRateBasisPoints }) => rates(vatRateBasisPoints)),
    'BT-153': lines.map(({ description }) => oneLine(description.split('\n')[0] ?? '')),
  };
}

/** The texts that pdf.js doesn't find on the pages; it gives letters of some scripts in another order. */
async function missingOnPages(printed: PrintedDocument, pdf: Buffer): Promise<string[]> {
  const texts = textsOf(printed);
  if (/[\p{scx=Arab}\p{scx=Hebr}\p{scx=Deva}\p{scx=Thai}]/u.test(texts.join(''))) return [];
  const pages = squeezed((await placedTexts(pdf)).map(({ text }) => text).join(''));
  return texts.flatMap((text) => text.split(/\s/)).filter((word) => !pages.includes(printable(word)));
}

/** An amount as a document shows it, in the smallest unit of its currency. */
function minorOf(text: string): bigint {
  return BigInt(text.replace('\u2212', '-').replace(/[^\d-]/g, ''));
}

/** Whether a row has these amounts behind a label. */
function hasAmounts(
  rows: readonly (readonly string[])[],
  label: string,
  amounts: readonly number[],
): boolean {
  return rows.some((row) => {
    const at = row.indexOf(label);
    return (
      at >= 0 && amounts.every((amount, index) => minorOf(row[at + 1 + index] ?? '0') === BigInt(amount))
    );
  });
}

/** The texts of a record and the amounts in their rows that its document doesn't say. */
function unsaid(printed: PrintedDocument, record: Invoice): string[] {
  const page = squeezed(textsOf(printed).join(''));
  const said = documentTexts(printed);
  const rows = [...said.table.rows, ...said.sums, ...said.vatTables.flatMap((table) => table.rows)];
  const { roundingMinor = 0, lines: details = {} } = printed.amounts ?? {};
  const { totals, payments = [], lines, vatBreakdown } = record;
  const paidMinor = sumOf(payments.map(({ amountMinor }) => amountMinor));
  const shownPaid = rows.flatMap((row) => {
    const [label = '', amount = ''] = row;
    return label.startsWith('Paid on ') ? [-Number(minorOf(amount))] : [];
  });
  const sums: [label: string, ...amounts: number[]][] = [
    ['Total excluding VAT', totals.netMinor],
    ['Total VAT', totals.vatMinor],
    ...vatBreakdown
      .filter(({ category }) => category === 'S')
      .map(({ rateBasisPoints: rate, taxableMinor, vatMinor }): [string, number, number] => [
        rateText(rate),
        taxableMinor,
        vatMinor,
      ]),
  ];
  const isThere = (line: Line) => {
    const [first] = line.description.split('\n');
    const row = rows.find(([text]) => text?.split('\n')[0] === first) ?? [];
    const price = row.at(showsVat(record) ? -3 : -2);
    const amountMinor = details[line.id]?.grossMinor ?? line.amountMinor;
    return minorOf(row.at(-1) ?? '') === BigInt(amountMinor) && isGiven(price, line, printed);
  };
  const dueMinor = totals.grossMinor + roundingMinor - paidMinor;
  const credit = ['Credit including VAT', 'Total credit'];
  const asked = ['Amount due', 'Amount credited', ...credit];
  const grand = dueMinor < 0 ? ['Credit balance'] : asked;
  const hasRounding = roundingMinor === 0 || hasAmounts(rows, 'Rounding', [roundingMinor]);
  return [
    ...wordsOf(printed, record).filter((text) => !page.includes(squeezed(text))),
    ...(totals.vatMinor === 0 ? [] : sums)
      .filter(([label, ...amounts]) => !hasAmounts(rows, label, amounts))
      .map((sum) => sum.join(' ')),
    ...lines.filter((line) => !isThere(line)).map(({ position }) => `line ${position}`),
    ...(sumOf(shownPaid) === paidMinor ? [] : [`paid ${paidMinor}`]),
    ...(hasRounding ? [] : [`rounding ${roundingMinor}`]),
    ...(grand.some((label) => hasAmounts(rows, label, [Math.abs(dueMinor)])) ? [] : [`due ${dueMinor}`]),
  ];
}

/** Whether a price is that of the draft, with VAT where prices include it. */
function isGiven(text = '', line: Line, { amounts, record }: PrintedDocument): boolean {
  const { given = {} } = amounts?.lines[line.id] ?? {};
  const { unitPriceMinor = line.unitPriceMinor, unitPrice, priceBaseQuantity = '1' } = given;
  const price = unitPrice ?? decimalAmount(unitPriceMinor, record.currency);
  const [own, base = 1] = numbersIn(text);
  return own === Number(price) && base === Number(priceBaseQuantity);
}

/** A price, and for how many units it is. */
const numbersIn = (text: string) => text.split(' per ').map((number) => Number(number.replaceAll(',', '')));

/** Texts of a record that its document has word for word, and its days. */
function wordsOf({ supplier, terms = {} }: PrintedDocument, record: Invoice): string[] {
  const { buyer, supplyPeriod, creditedInvoice } = record;
  const days = [record.issueDate, creditedInvoice?.issueDate].map((day) => day && dateText(day));
  return [
    ...[record.number, record.buyerReference, record.purchaseOrderReference, record.note],
    ...[buyer.name, buyer.legalName, buyer.contactName, buyer.vatId, buyer.email, ...buyer.addressLines],
    ...[supplier.legalName, supplier.vatId, creditedInvoice?.number, ...days],
    ...[typeNames[terms.typeCode ?? ''], taxPoints[terms.taxPointCode ?? '']],
    ...[supplyPeriod && periodText(supplyPeriod), ...record.lines.map(({ description }) => description)],
  ].filter((text) => typeof text === 'string');
}

const squeezed = (text: string) => text.replace(/\s/g, '');

/** The places in which the e-invoices of a document break a rule, or differ from each other or from the API's record. */
async function problemsOf(
  printed: PrintedDocument,
  record: Invoice,
  { cii, ubl }: { cii: string; ubl: string },
): Promise<string[]> {
  const xml = parseXml(cii);
  const prices = valuesOf(xml, `${PRICE}/string-join((ram:ChargeAmount, ram:BasisQuantity), ' per ')`);
  const terms = termsIn(xml);
  const ublXml = parseXml(ubl);
  const inUbl = termsIn(ublXml);
  const inRecord = Object.entries(termsOf(record, printed)).map(
    ([term, values]) => [term, values.map((value) => value?.replace(DAY, '$1$2$3')).filter(Boolean)] as const,
  );
  const isOther = (term: string, values: readonly unknown[] = []) =>
    JSON.stringify(values) !== JSON.stringify(terms[term] ?? []);
  const { errors } = await validateXsd(cii, Profile.EN16931);
  return [
    ...errors.map(({ message }) => `CII: ${message}`),
    ...brokenRules(xml),
    ...valuesOf(ublXml, `${DEBIT}[not(cac:PaymentMandate/cbc:ID)] ! 'PEPPOL-EN16931-R061'`),
    ...valuesOf(ublXml, "(//cac:PaymentMandate)[2] ! 'UBL-SR-55'"),
    ...Object.keys({ ...terms, ...inUbl })
      .filter((term) => isOther(term, inUbl[term]))
      .map((term) => `UBL: ${term}`),
    ...inRecord.filter(([term, values]) => isOther(term, values)).map(([term]) => `API: ${term}`),
    ...(isPriced(record, printed)
      ? record.lines.filter((line, index) => !isPrice(prices[index], line, record))
      : []
    ).map(({ position }) => `price of line ${position}`),
  ];
}

/** Whether the prices of a document stand in its e-invoices as they were given; others are worked out from amounts. */
function isPriced({ kind }: Invoice, { amounts }: PrintedDocument): boolean {
  return kind === 'invoice' && amounts?.given.pricesIncludeVat !== true;
}

/** Whether a price, maybe for a number of units, comes to that of one unit in the API, which is rounded. */
function isPrice(text = '', { unitPriceMinor }: Line, { currency }: Invoice): boolean {
  const [price = NaN, base = 1] = numbersIn(text);
  return Math.abs((price / base) * 10 ** minorDigits(currency) - unitPriceMinor) < 0.5001;
}

t.test(
  `${count} random sales say the same in the API, on pages and in e-invoices (seed ${seed})`,
  async (t) => {
    await using database = await openTestDatabase('sqlite');
    const testBackoffice = createTestBackoffice(database, { accent: '#7a1f5c' });
    const renderer = createRenderer();
    const tally = new Map<string, number>();
    const problems: string[] = [];
    const counted = (what: string) => tally.set(what, (tally.get(what) ?? 0) + 1);
    if (folder !== undefined) mkdirSync(folder, { recursive: true });
    const sales = fc.sample(randomSale, { numRuns: Number(count), seed });
    for (const [index, sale] of sales.entries()) {
      const { company, documents, refusal } = await issueSale(testBackoffice, sale);
      if (refusal !== undefined) counted(`refused: ${refusal.replace(/\d+/g, 'N')}`);
      for (const record of documents) {
        const name = `${String(index + 1).padStart(4, '0')}-${record.kind}`;
        const printed = await printedDocument(testBackoffice.engine, company, record.id);
        const pdf = await renderer.render(printed);
        const found = [
          ...(await conformanceProblems(pdf)),
          ...(await missingOnPages(printed, pdf)),
          ...unsaid(printed, record),
        ];
        const files: Record<string, string | Buffer> = { pdf };
        if (hasEInvoice(printed)) {
          const [cii, ubl] = [eInvoiceText(printed, 'cii'), eInvoiceText(printed, 'ubl')];
          found.push(...(await problemsOf(printed, record, { cii, ubl })));
          counted(`${record.kind} ${ubl.includes('peppol.eu') ? 'by Peppol' : 'by EN 16931 alone'}`);
          Object.assign(files, { 'cii.xml': cii, 'ubl.xml': ubl });
        } else counted(`${record.kind} without e-invoice`);
        problems.push(...found.map((problem) => `${name}: ${problem}`));
        if (folder === undefined) continue;
        for (const [ending, content] of Object.entries(files))
          writeFileSync(join(folder, `${name}.${ending}`), content);
      }
    }
    for (const [what, often] of [...tally].sort((a, b) => b[1] - a[1])) t.comment(`${often} ${what}`);
    t.strictSame(problems.slice(0, 20), []);
    const kinds = ['invoice', 'credit_note'].flatMap((kind) =>
      ['by Peppol', 'by EN 16931 alone'].map((how) => `${kind} ${how}`),
    );
    for (const kind of kinds) t.ok((tally.get(kind) ?? 0) >= Math.floor(Number(count) / 40), kind);
  },
);
