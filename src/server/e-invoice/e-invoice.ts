import { minorDigits } from '../../contract/currencies.ts';
import { countryCodes, currencyCodes, vatPrefixes } from '../../contract/code-lists.ts';
import type { PrintedDocument } from '../invoice-pdf/printed-document.ts';
import { ciiText } from './cii.ts';
import { readDocument, typeCodes } from './reading.ts';
import { ublText } from './ubl.ts';
import { oneLine } from './xml-text.ts';

/** The syntaxes of EN 16931: Cross Industry Invoice D22B, and UBL 2.1. */
export type EInvoiceFormat = 'cii' | 'ubl';

const writers = { cii: ciiText, ubl: ublText };

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
 * express a supply outside the scope of VAT by a supplier who has a VAT number or a tax representative: the norm forbids
 * their numbers there (BR-O-02), and without them the e-invoice would differ from the page. It can't express amounts with
 * three decimals (BR-DEC), rates below 0.5 %, sums beyond fifty thousand million, codes of countries and currencies that
 * are in no list (BR-CL), or blank names, numbers and properties (BR-06, BR-07, BR-17, BR-18, BR-25, BR-52, BR-54,
 * BR-55).
 */
export function hasEInvoice(document: PrintedDocument): boolean {
  const { record, amounts, isImported = false } = document;
  const { allowances = [], charges = [] } = amounts ?? {};
  const added = [...record.lines, ...allowances, ...charges];
  return (
    record.status === 'issued' &&
    !isImported &&
    typeCodes[record.kind] !== undefined &&
    hasKnownCodes(document) &&
    hasNames(document) &&
    hasPossibleVat(document) &&
    added.reduce((sum, { amountMinor }) => sum + Math.abs(amountMinor), 0) <= SUM_MINOR_MAX
  );
}

/**
 * The e-invoice of a document as XML: `cii` for the file `factur-x.xml` within its PDF, `ubl` for networks. It states the
 * amounts at issue. Later payments and credit notes aren't in it, so it is the same text whenever it is made.
 * @throws Error for a document that has none; see `hasEInvoice`.
 */
export function eInvoiceText(document: PrintedDocument, format: EInvoiceFormat): string {
  if (!hasEInvoice(document)) throw new Error(`The document ${document.record.id} has no e-invoice.`);
  return writers[format](readDocument(document));
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

function hasNames({ record, supplier, terms = {} }: PrintedDocument): boolean {
  const { payee, taxRepresentative, precedingInvoices = [], supportingDocuments = [] } = terms;
  const names = [
    ...[record.number, supplier.legalName, record.buyer.legalName ?? record.buyer.name],
    ...record.lines.map(({ description }) => description),
    ...[payee, taxRepresentative].flatMap((party) => party?.name ?? []),
    ...precedingInvoices.map(({ number }) => number),
    ...supportingDocuments.map(({ reference }) => reference),
    ...Object.values(terms.lines ?? {}).flatMap(({ classifications = [], attributes = [] }) => [
      ...classifications.map(({ code }) => code),
      ...attributes.flatMap(({ name, value }) => [name, value]),
    ]),
  ];
  return names.every((name) => oneLine(name ?? '') !== '');
}

function hasPossibleVat({ record, supplier, terms }: PrintedDocument): boolean {
  const isWithoutVatId = supplier.vatId === undefined && terms?.taxRepresentative === undefined;
  const numbers = [supplier.companyNumber, ...(supplier.identifiers ?? []).map(({ id }) => id)];
  return record.vatBreakdown.every(({ category, rateBasisPoints }) => {
    if (category === 'S') return rateBasisPoints >= RATE_BASIS_POINTS_MIN;
    // The seller needs one of its numbers (BR-CO-26).
    if (category === 'O') return isWithoutVatId && numbers.some((id) => oneLine(id ?? '') !== '');
    return categories.includes(category);
  });
}
