import { decimalAmount } from '../../contract/currencies.ts';
import type { Invoice } from '../../contract/records.ts';
import { date, rateOf } from './e-invoice-values.ts';
import type { PrintedDocument } from './printed-document.ts';
import { asksForPayment, taxPointOf } from './wording.ts';
import { element, leaf, optionalLeaf } from './xml-text.ts';

/** BT-81, from UNTDID 4461. */
const CREDIT_TRANSFER = '30';
const SEPA_CREDIT_TRANSFER = '58';

/** BT-8, from UNTDID 2475: the tax point is the day of the invoice. */
const DAY_OF_ISSUE = '5';

/** Codes of the VATEX list. An exemption (E) has none: which article it rests on isn't known here. */
const vatexCodes: Partial<Record<string, string>> = {
  AE: 'VATEX-EU-AE',
  K: 'VATEX-EU-IC',
  G: 'VATEX-EU-G',
  O: 'VATEX-EU-O',
};

/** The amounts due, and how to pay them. */
export function settlement(document: PrintedDocument): string {
  const { record } = document;
  const means = paymentMeans(document);
  return element(
    'ram:ApplicableHeaderTradeSettlement',
    means && optionalLeaf('ram:PaymentReference', record.number),
    taxCurrency(record),
    leaf('ram:InvoiceCurrencyCode', record.currency),
    means,
    ...record.vatBreakdown.map((item) => tradeTax(item, document)),
    period(record.supplyPeriod),
    paymentTerms(record),
    summation(record),
    record.creditedInvoice ? creditedInvoice(record.creditedInvoice) : undefined,
  );
}

/** BT-6, which BT-5 must not repeat (BR-53). */
function taxCurrency(record: Invoice): string | undefined {
  const { accountingCurrency, currency } = record;
  if (!accountingCurrency || accountingCurrency.currency === currency) return undefined;
  return leaf('ram:TaxCurrencyCode', accountingCurrency.currency);
}

/** The supplier's bank account (BG-16), where something is to be paid into it. */
function paymentMeans({ record, supplier }: PrintedDocument): string | undefined {
  const account = withoutSpaces(supplier.iban);
  if (!asksForPayment(record) || account === '') return undefined;
  const hasIban = isIban(account);
  const bic = withoutSpaces(supplier.bic);
  return element(
    'ram:SpecifiedTradeSettlementPaymentMeans',
    leaf('ram:TypeCode', hasIban && record.currency === 'EUR' ? SEPA_CREDIT_TRANSFER : CREDIT_TRANSFER),
    element(
      'ram:PayeePartyCreditorFinancialAccount',
      hasIban ? leaf('ram:IBANID', account) : undefined,
      optionalLeaf('ram:AccountName', supplier.bankAccountName),
      hasIban ? undefined : leaf('ram:ProprietaryID', account),
    ),
    bic === ''
      ? undefined
      : element('ram:PayeeSpecifiedCreditorFinancialInstitution', leaf('ram:BICID', bic)),
  );
}

function withoutSpaces(text: string | undefined): string {
  return (text ?? '').replace(/\s+/g, '').toUpperCase();
}

/** ISO 13616: with its first four characters moved to the end, and letters as numbers from 10 on, it is 1 modulo 97. */
function isIban(account: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(account)) return false;
  const digits = `${account.slice(4)}${account.slice(0, 4)}`.replace(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return BigInt(digits) % 97n === 1n;
}

/** The VAT of a category and rate (BG-23). */
function tradeTax(item: Invoice['vatBreakdown'][number], document: PrintedDocument): string {
  const { currency, lines } = document.record;
  const { category, rateBasisPoints, taxableMinor, vatMinor } = item;
  // The back office makes sure that all lines of a category have the same reason.
  const reason = lines.find(({ vatCategory }) => vatCategory === category)?.vatExemptionReason;
  return element(
    'ram:ApplicableTradeTax',
    leaf('ram:CalculatedAmount', decimalAmount(vatMinor, currency)),
    leaf('ram:TypeCode', 'VAT'),
    optionalLeaf('ram:ExemptionReason', reason),
    leaf('ram:BasisAmount', decimalAmount(taxableMinor, currency)),
    leaf('ram:CategoryCode', category),
    optionalLeaf('ram:ExemptionReasonCode', vatexCode(category, document)),
    taxPointOf(document.record) === null ? undefined : leaf('ram:DueDateTypeCode', DAY_OF_ISSUE),
    rateOf(category, rateBasisPoints),
  );
}

/**
 * The codes name articles of the Union's VAT directive. Of British documents only goods from Northern Ireland follow
 * it.
 */
function vatexCode(category: string, { supplier }: PrintedDocument): string | undefined {
  return supplier.countryCode === 'IE' || category === 'K' ? vatexCodes[category] : undefined;
}

function period(supplyPeriod: Invoice['supplyPeriod']): string | undefined {
  if (!supplyPeriod) return undefined;
  return element(
    'ram:BillingSpecifiedPeriod',
    date('ram:StartDateTime', supplyPeriod.startDate),
    date('ram:EndDateTime', supplyPeriod.endDate),
  );
}

/**
 * When to pay (BT-9). A credit note names its invoice instead (BT-20): one of the two is required of positive amounts
 * (BR-CO-25).
 */
function paymentTerms(record: Invoice): string | undefined {
  const { creditedInvoice: credited } = record;
  const dueDate = asksForPayment(record) ? record.dueDate : null;
  const description = credited ? `It reduces what is due on invoice ${credited.number}.` : undefined;
  if (description === undefined && dueDate === null) return undefined;
  return element(
    'ram:SpecifiedTradePaymentTerms',
    optionalLeaf('ram:Description', description),
    dueDate === null ? undefined : date('ram:DueDateDateTime', dueDate),
  );
}

/** The totals (BG-22). The whole amount is due, as at issue. */
function summation(record: Invoice): string {
  const { currency, totals, accountingCurrency } = record;
  const amount = (name: string, amountMinor: number) => leaf(name, decimalAmount(amountMinor, currency));
  return element(
    'ram:SpecifiedTradeSettlementHeaderMonetarySummation',
    amount('ram:LineTotalAmount', totals.netMinor),
    amount('ram:TaxBasisTotalAmount', totals.netMinor),
    taxTotal(totals.vatMinor, currency),
    accountingCurrency && accountingCurrency.currency !== currency
      ? taxTotal(accountingCurrency.totals.vatMinor, accountingCurrency.currency)
      : undefined,
    amount('ram:GrandTotalAmount', totals.grossMinor),
    amount('ram:DuePayableAmount', totals.grossMinor),
  );
}

/** BT-110 and BT-111, told apart by their currencies. */
function taxTotal(amountMinor: number, currency: string): string {
  return leaf('ram:TaxTotalAmount', decimalAmount(amountMinor, currency), { currencyID: currency });
}

function creditedInvoice({ number, issueDate }: NonNullable<Invoice['creditedInvoice']>): string {
  return element(
    'ram:InvoiceReferencedDocument',
    optionalLeaf('ram:IssuerAssignedID', number),
    date('ram:FormattedIssueDateTime', issueDate, 'qdt'),
  );
}
