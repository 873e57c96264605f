import { unitCodes } from '../../contract/code-lists.ts';
import { decimalAmount } from '../../contract/currencies.ts';
import type { StoredTerms, LineTerms } from '../../contract/document-terms.ts';
import type { Invoice } from '../../contract/records.ts';
import { isInEu } from '../../contract/vat-numbers.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import { asksForPayment, dueDateOf, taxPointOf } from '../printed-document/wording.ts';
import type { EInvoice, Line, Note, PrecedingInvoice, SupportingDocument, VatBreakdown } from './model.ts';
import { documentAllowanceCharges, lineAmounts, rateOf, totalsOf } from './reading-amounts.ts';
import {
  buyerOf,
  readDelivery,
  identifierOf,
  payeeOf,
  representativeOf,
  sellerOf,
} from './reading-parties.ts';
import { paymentOf } from './reading-payment.ts';
import { oneLine, optionalText } from './xml-text.ts';

/** Invoice type codes (BT-3) by kind of document, from UNTDID 1001. A pro forma isn't an invoice, and has none. */
export const typeCodes: Partial<Record<Invoice['kind'], string>> = { invoice: '380', credit_note: '381' };

/** The Recommendation 20 code "mutually defined", used for units that aren't listed there. */
const OTHER_UNIT = 'ZZ';

/** The code (BT-8, from UNTDID 2005) for the invoice date as the date on which VAT becomes chargeable. */
const DAY_OF_ISSUE = '3';

/** VATEX codes by VAT category. An exemption (E) has none here, because its code depends on the article of law. */
const vatexCodes: Partial<Record<string, string>> = {
  AE: 'VATEX-EU-AE',
  K: 'VATEX-EU-IC',
  G: 'VATEX-EU-G',
  O: 'VATEX-EU-O',
};

/** Returns a document as an e-invoice in the terms of EN 16931, with the amounts at issue. */
export function toEInvoice(document: PrintedDocument): EInvoice {
  const { record, terms = {} } = document;
  const { currency } = record;
  return {
    number: oneLine(record.number ?? ''),
    issueDate: record.issueDate ?? '',
    typeCode: terms.typeCode ?? typeCodes[record.kind] ?? '',
    currency,
    vatAccounting: vatAccountingOf(record),
    vatPointDate: terms.taxPointDate,
    vatPointDateCode: taxPointCodeOf(record, terms),
    // Positive amounts require BT-9 or BT-20 (BR-CO-25), so a credit note's payment terms name its invoice.
    paymentDueDate: dueDateOf(document) ?? undefined,
    paymentTerms: paymentTermsOf(document),
    buyerReference: optionalText(record.buyerReference),
    purchaseOrderReference: optionalText(record.purchaseOrderReference),
    ...referencesOf(terms),
    notes: notesOf(record, terms),
    precedingInvoices: precedingOf(record, terms),
    seller: sellerOf(document),
    buyer: buyerOf(document),
    payee: payeeOf(document),
    taxRepresentative: representativeOf(document),
    delivery: readDelivery(document),
    invoicingPeriod: record.supplyPeriod ?? undefined,
    payment: paymentOf(document),
    allowanceCharges: documentAllowanceCharges(document),
    totals: totalsOf(document),
    vatBreakdown: record.vatBreakdown.map((item) => breakdownOf(item, document)),
    supportingDocuments: documentsOf(terms),
    lines: record.lines.map((line) => ({
      ...lineOf(line, document),
      ...lineTermsOf(terms.lines?.[line.id] ?? {}),
    })),
  };
}

/** Returns the payment terms as text, with the supplier's late payment terms where the page shows them too. */
function paymentTermsOf(document: PrintedDocument): string | undefined {
  const { record, supplier, terms } = document;
  const given = optionalText(terms?.paymentTerms) && terms?.paymentTerms;
  const own = given ?? creditTerms(record.creditedInvoice);
  const late = asksForPayment(document) ? supplier.latePaymentTerms : undefined;
  return [late, own].filter((text) => optionalText(text) !== undefined).join('\n') || undefined;
}

function taxPointCodeOf(record: Invoice, { taxPointDate, taxPointCode }: StoredTerms): string | undefined {
  if (taxPointCode !== undefined) return taxPointCode;
  return taxPointDate === undefined && taxPointOf(record) !== null ? DAY_OF_ISSUE : undefined;
}

/** Returns the preceding invoices (BG-3), a credit note's own invoice first. */
function precedingOf({ creditedInvoice: credited }: Invoice, terms: StoredTerms): PrecedingInvoice[] {
  return [...(credited ? [credited] : []), ...(terms.precedingInvoices ?? [])].map(
    ({ number, issueDate }) => ({ number: oneLine(number), issueDate }),
  );
}

function documentsOf({ supportingDocuments = [] }: StoredTerms): SupportingDocument[] {
  return supportingDocuments.map(({ reference, description, url }) => ({
    reference: oneLine(reference),
    description: optionalText(description),
    url,
  }));
}

function creditTerms(credited: Invoice['creditedInvoice']): string | undefined {
  return credited ? `It reduces what is due on invoice ${credited.number}.` : undefined;
}

function referencesOf(terms: StoredTerms): Partial<EInvoice> {
  return {
    projectReference: optionalText(terms.projectReference),
    contractReference: optionalText(terms.contractReference),
    salesOrderReference: optionalText(terms.salesOrderReference),
    receivingAdviceReference: optionalText(terms.receivingAdviceReference),
    despatchAdviceReference: optionalText(terms.despatchAdviceReference),
    tenderReference: optionalText(terms.tenderReference),
    invoicedObject: identifierOf(terms.invoicedObject),
    buyerAccountingReference: optionalText(terms.buyerAccountingReference),
  };
}

function notesOf(record: Invoice, { notes = [] }: StoredTerms): Note[] {
  const all = [{ text: record.note ?? '' }, { text: exchangeNote(record) }, ...notes];
  return all.filter(({ text }) => oneLine(text) !== '');
}

function vatAccountingOf({ accountingCurrency, currency }: Invoice): EInvoice['vatAccounting'] {
  if (!accountingCurrency || accountingCurrency.currency === currency) return undefined;
  const { currency: other, totals } = accountingCurrency;
  return { currency: other, totalVat: decimalAmount(totals.vatMinor, other) };
}

/** Returns a note with the exchange rate: EN 16931 has a term for VAT in accounting currency (BT-111), none for the rate. */
function exchangeNote({ currency, accountingCurrency }: Invoice): string {
  if (!accountingCurrency) return '';
  const { exchangeRate, exchangeRateDate, exchangeRateSource } = accountingCurrency;
  return `1 ${currency} = ${exchangeRate} ${accountingCurrency.currency} (${exchangeRateSource}, ${exchangeRateDate})`;
}

/** Returns the item of the VAT breakdown for a category and rate. */
function breakdownOf(item: Invoice['vatBreakdown'][number], document: PrintedDocument): VatBreakdown {
  const { record, supplier } = document;
  const { category, rateBasisPoints, taxableMinor, vatMinor } = item;
  const { vatExemptionReason, vatExemptionReasonCode } = exemptionOf(category, document);
  // The codes name articles of the EU's VAT directive, which applies in the UK only to goods from Northern Ireland.
  const isOfUnion = isInEu(supplier.countryCode ?? '') || category === 'K';
  return {
    taxable: decimalAmount(taxableMinor, record.currency),
    vat: decimalAmount(vatMinor, record.currency),
    category,
    rate: rateOf(category, rateBasisPoints),
    exemptionReason: optionalText(vatExemptionReason),
    exemptionReasonCode: vatExemptionReasonCode ?? (isOfUnion ? vatexCodes[category] : undefined),
  };
}

/** Returns a VAT category's exemption reason. The back office ensures that all its lines, or else its charges, agree. */
function exemptionOf(
  category: string,
  { record, amounts, terms }: PrintedDocument,
): { vatExemptionReason?: string | null; vatExemptionReasonCode?: string } {
  const isOwn = (one: { vatCategory: string }) => one.vatCategory === category;
  const line = record.lines.find(isOwn);
  return { ...(line ?? amounts?.charges.find(isOwn)), ...(line && terms?.lines?.[line.id]) };
}

/** Returns an invoice line. The first line of its description is the item's name, the rest the item's description. */
function lineOf(line: Invoice['lines'][number], document: PrintedDocument): Omit<Line, keyof ReadTerms> {
  const { position, quantity, unitCode, vatCategory, vatRateBasisPoints } = line;
  const texts = line.description.split(/\r\n?|\n/).map(oneLine);
  const [itemName = '', ...others] = texts.filter((text) => text !== '');
  const isKnownUnit = unitCodes.has(unitCode);
  if (!isKnownUnit) others.push(`Unit: ${unitCode}`);
  return {
    id: optionalText(document.terms?.lines?.[line.id]?.lineNumber) ?? String(position),
    quantity,
    unitCode: isKnownUnit ? unitCode : OTHER_UNIT,
    ...lineAmounts(line, document),
    category: vatCategory,
    rate: rateOf(vatCategory, vatRateBasisPoints),
    itemName,
    itemDescription: others.length === 0 ? undefined : others.join('\n'),
  };
}

type ReadTerms = ReturnType<typeof lineTermsOf>;

function lineTermsOf(terms: LineTerms) {
  const { classifications = [], attributes = [] } = terms;
  return {
    note: optionalText(terms.note) && terms.note,
    invoicedObject: identifierOf(terms.invoicedObject),
    orderLineReference: optionalText(terms.orderLineReference),
    buyerAccountingReference: optionalText(terms.buyerAccountingReference),
    period: terms.supplyPeriod ?? undefined,
    sellerItemId: optionalText(terms.sellerItemId),
    buyerItemId: optionalText(terms.buyerItemId),
    standardItemId: identifierOf(terms.standardItemId),
    classifications: classifications.map((one) => ({ ...one, code: oneLine(one.code) })),
    originCountryCode: terms.originCountryCode,
    attributes: attributes.map(({ name, value }) => ({ name: oneLine(name), value: oneLine(value) })),
  };
}
