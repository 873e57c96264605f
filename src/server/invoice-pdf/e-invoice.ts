import type { Invoice } from '../../contract/records.ts';
import { decimalAmount, minorDigits } from '../../contract/currencies.ts';
import { countryCodes, currencyCodes, unitCodes, vatPrefixes } from '../../contract/code-lists.ts';
import { buyerParty, deliveryParty, sellerParty } from './e-invoice-parties.ts';
import { settlement } from './e-invoice-settlement.ts';
import { date, rateOf } from './e-invoice-values.ts';
import type { PrintedDocument } from './printed-document.ts';
import { element, leaf, oneLine, optionalLeaf } from './xml-text.ts';

type Line = Invoice['lines'][number];

/** The EN 16931 profile, also known as Comfort, of Factur-X 1.0 and ZUGFeRD 2 (BT-24). */
const GUIDELINE = 'urn:cen.eu:en16931:2017';

/** BT-3, from UNTDID 1001. A draft and a pro forma are no invoices, and have no code. */
const typeCodes: Partial<Record<Invoice['kind'], string>> = { invoice: '380', credit_note: '381' };

/** "Mutually defined": the code of Recommendation 20 for units that it doesn't know. */
const OTHER_UNIT = 'ZZ';

const namespaces = {
  rsm: 'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100',
  ram: 'urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100',
  qdt: 'urn:un:unece:uncefact:data:standard:QualifiedDataType:100',
  udt: 'urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100',
};

/** The categories of UNCL 5305 whose rules the back office keeps. */
const categories = ['S', 'Z', 'E', 'AE', 'K', 'G', 'O'];

/** The validators round a smaller rate to zero, and then refuse its VAT (BR-CO-17). */
const RATE_BASIS_POINTS_MIN = 50;

/**
 * The validators add amounts up as doubles (BR-CO-10). Up to this total, a thousand rounding errors stay below half a cent.
 */
const SUM_MINOR_MAX = 5_000_000_000_000;

/**
 * Whether a document has an e-invoice: an invoice or credit note that was issued here, unless EN 16931 can't express it. It can't
 * express a supply outside the scope of VAT by a supplier who has a VAT number: the norm forbids the number there
 * (BR-O-02), and without it the e-invoice would differ from the page. It can't express amounts with three decimals
 * (BR-DEC), rates below 0.5 %, sums beyond fifty thousand million, codes of countries and currencies that are in no
 * list (BR-CL), or blank names (BR-06, BR-07, BR-25).
 */
export function hasEInvoice(document: PrintedDocument): boolean {
  const { record, isImported = false } = document;
  return (
    record.status === 'issued' &&
    !isImported &&
    typeCodes[record.kind] !== undefined &&
    hasKnownCodes(document) &&
    hasNames(document) &&
    hasPossibleVat(document) &&
    record.lines.reduce((sum, line) => sum + Math.abs(line.amountMinor), 0) <= SUM_MINOR_MAX
  );
}

/**
 * The e-invoice of a document: Cross Industry Invoice D22B in the profile EN 16931, for the file `factur-x.xml` within
 * its PDF. It states the amounts at issue. Later payments and credit notes aren't in it, so it is the same text
 * whenever it is made.
 * @throws Error for a document that has none; see `hasEInvoice`.
 */
export function eInvoiceXml(document: PrintedDocument): string {
  const { record } = document;
  if (!hasEInvoice(document)) throw new Error(`The document ${record.id} has no e-invoice.`);
  const declarations = Object.entries(namespaces).map(([prefix, uri]) => ` xmlns:${prefix}="${uri}"`);
  const content = [context(), heading(record), transaction(document)].join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<rsm:CrossIndustryInvoice${declarations.join('')}>${content}</rsm:CrossIndustryInvoice>\n`;
}

function hasKnownCodes({ record, supplier }: PrintedDocument): boolean {
  const { buyer, currency, accountingCurrency } = record;
  const currencies = [currency, accountingCurrency?.currency ?? currency];
  const countries = [
    supplier.countryCode ?? '',
    buyer.countryCode,
    buyer.site?.countryCode ?? buyer.countryCode,
  ];
  const vatIds = [supplier.vatId, buyer.vatId].filter((vatId) => typeof vatId === 'string');
  return (
    currencies.every((code) => currencyCodes.has(code) && minorDigits(code) <= 2) &&
    countries.every((code) => countryCodes.has(code)) &&
    vatIds.every((vatId) => vatPrefixes.has(vatId.slice(0, 2)))
  );
}

function hasNames({ record, supplier }: PrintedDocument): boolean {
  const { number, buyer, lines } = record;
  const names = [number, supplier.legalName, buyer.legalName ?? buyer.name];
  return [...names, ...lines.map(({ description }) => description)].every(
    (name) => oneLine(name ?? '') !== '',
  );
}

function hasPossibleVat({ record, supplier }: PrintedDocument): boolean {
  return record.vatBreakdown.every(({ category, rateBasisPoints }) => {
    if (category === 'S') return rateBasisPoints >= RATE_BASIS_POINTS_MIN;
    // The seller needs one of the two numbers (BR-CO-26).
    if (category === 'O') return supplier.vatId === undefined && oneLine(supplier.companyNumber ?? '') !== '';
    return categories.includes(category);
  });
}

function context(): string {
  return element(
    'rsm:ExchangedDocumentContext',
    element('ram:GuidelineSpecifiedDocumentContextParameter', leaf('ram:ID', GUIDELINE)),
  );
}

function heading(record: Invoice): string {
  const { number, kind, issueDate, note } = record;
  return element(
    'rsm:ExchangedDocument',
    leaf('ram:ID', oneLine(number ?? '')),
    leaf('ram:TypeCode', typeCodes[kind] ?? ''),
    date('ram:IssueDateTime', issueDate ?? ''),
    noteOf(note),
    noteOf(exchangeNote(record)),
  );
}

function noteOf(text: string | null | undefined): string | undefined {
  return oneLine(text ?? '') === ''
    ? undefined
    : element('ram:IncludedNote', leaf('ram:Content', text ?? ''));
}

/** EN 16931 has a term for the VAT in the accounting currency (BT-111), but none for the exchange rate. */
function exchangeNote({ currency, accountingCurrency }: Invoice): string | undefined {
  if (!accountingCurrency) return undefined;
  const { exchangeRate, exchangeRateDate, exchangeRateSource } = accountingCurrency;
  return `1 ${currency} = ${exchangeRate} ${accountingCurrency.currency} (${exchangeRateSource}, ${exchangeRateDate})`;
}

function transaction(document: PrintedDocument): string {
  const { record } = document;
  return element(
    'rsm:SupplyChainTradeTransaction',
    ...record.lines.map((line) => lineItem(line, record.currency)),
    agreement(document),
    delivery(document),
    settlement(document),
  );
}

/** A line of a document (BG-25). */
function lineItem(line: Line, currency: string): string {
  const { position, quantity, unitCode, unitPriceMinor, amountMinor } = line;
  const unit = unitCodes.has(unitCode) ? unitCode : OTHER_UNIT;
  return element(
    'ram:IncludedSupplyChainTradeLineItem',
    element('ram:AssociatedDocumentLineDocument', leaf('ram:LineID', String(position))),
    product(line),
    element(
      'ram:SpecifiedLineTradeAgreement',
      element(
        'ram:NetPriceProductTradePrice',
        leaf('ram:ChargeAmount', decimalAmount(unitPriceMinor, currency)),
      ),
    ),
    element('ram:SpecifiedLineTradeDelivery', leaf('ram:BilledQuantity', quantity, { unitCode: unit })),
    element(
      'ram:SpecifiedLineTradeSettlement',
      lineTax(line),
      element(
        'ram:SpecifiedTradeSettlementLineMonetarySummation',
        leaf('ram:LineTotalAmount', decimalAmount(amountMinor, currency)),
      ),
    ),
  );
}

/** The first line of a description names the item (BT-153), the others describe it (BT-154). */
function product({ description, unitCode }: Line): string {
  const texts = description.split(/\r\n?|\n/).map(oneLine);
  const [name = '', ...others] = texts.filter((text) => text !== '');
  if (!unitCodes.has(unitCode)) others.push(`Unit: ${unitCode}`);
  return element(
    'ram:SpecifiedTradeProduct',
    leaf('ram:Name', name),
    others.length === 0 ? undefined : leaf('ram:Description', others.join('\n')),
  );
}

function lineTax({ vatCategory, vatRateBasisPoints }: Line): string {
  return element(
    'ram:ApplicableTradeTax',
    leaf('ram:TypeCode', 'VAT'),
    leaf('ram:CategoryCode', vatCategory),
    rateOf(vatCategory, vatRateBasisPoints),
  );
}

function agreement(document: PrintedDocument): string {
  const { buyerReference, purchaseOrderReference } = document.record;
  const order = optionalLeaf('ram:IssuerAssignedID', purchaseOrderReference);
  return element(
    'ram:ApplicableHeaderTradeAgreement',
    optionalLeaf('ram:BuyerReference', buyerReference),
    sellerParty(document),
    buyerParty(document),
    order && element('ram:BuyerOrderReferencedDocument', order),
  );
}

/** BT-72 is the day of the supply: with a period (BG-14), its last day. */
function delivery(document: PrintedDocument): string {
  const { supplyDate } = document.record;
  return element(
    'ram:ApplicableHeaderTradeDelivery',
    deliveryParty(document),
    supplyDate === null
      ? undefined
      : element('ram:ActualDeliverySupplyChainEvent', date('ram:OccurrenceDateTime', supplyDate)),
  );
}
