import type { Invoice } from '../../contract/records.ts';
import { rateText } from '../../contract/currencies.ts';
import { payableMinor } from '../../contract/vat.ts';
import type { PrintedDocument } from './printed-document.ts';

export type InvoiceLine = Invoice['lines'][number];

const titles: Record<Invoice['kind'], string> = {
  invoice: 'Invoice',
  credit_note: 'Credit note',
  pro_forma: 'Pro forma invoice',
};

/** Names of invoice types that an invoice may state, by code (UNTDID 1001). */
export const typeNames: Partial<Record<string, string>> = {
  204: 'Payment valuation',
  326: 'Partial invoice',
  380: 'Invoice',
  384: 'Corrected invoice',
  386: 'Prepayment invoice',
  387: 'Hire invoice',
  389: 'Self-billed invoice',
  575: "Insurer's invoice",
  875: 'Partial construction invoice',
  876: 'Partial final construction invoice',
  877: 'Final construction invoice',
};

/** Names of the dates on which VAT can become chargeable, by code (UNTDID 2005). */
export const taxPoints: Partial<Record<string, string>> = {
  3: 'Date of issue',
  35: 'Date of delivery',
  432: 'Date of payment',
};

/** Returns the plain-English name of a document's kind. */
export function titleOf({ kind }: Invoice): string {
  return titles[kind];
}

export function isDraft({ status }: Invoice): boolean {
  return status === 'draft';
}

/** Whether a statement of account can be made for a document. */
export function hasStatement({ kind, status }: Invoice): boolean {
  return kind === 'invoice' && status === 'issued';
}

/** Whether a document asks for money; a credit note, or a document with nothing to pay, doesn't. */
export function asksForPayment({ record, amounts }: PrintedDocument): boolean {
  return record.kind !== 'credit_note' && payableMinor(record.totals, amounts) > 0;
}

/** Returns a document's due date, even if it was prepaid in full; null for an invoice of zero, as under a warranty. */
export function dueDateOf(printed: PrintedDocument): string | null {
  const { dueDate, totals } = printed.record;
  return totals.grossMinor > 0 || asksForPayment(printed) ? dueDate : null;
}

/** Returns the amount, in minor units, by which prepayments exceed an invoice's total and which is owed back. */
export function overpaidMinor({ record, amounts }: PrintedDocument): number {
  const isPrepaid = (amounts?.prepayments ?? []).length > 0;
  return isPrepaid ? Math.max(0, -payableMinor(record.totals, amounts)) : 0;
}

export function pricesIncludeVat({ amounts }: PrintedDocument): boolean {
  return amounts?.given.pricesIncludeVat === true;
}

/** Returns a document's number, or `DRAFT` for a draft. */
export function numberOf({ number }: Invoice): string {
  return number ?? 'DRAFT';
}

/** Returns the name of a document or statement for page headers, footers and the PDF's title. */
export function documentName(printed: PrintedDocument): string {
  const { record, statementOn } = printed;
  if (statementOn === undefined) return `${titleOf(record)} ${numberOf(record)}`;
  return `Statement of account for ${subjectOf(printed)} as of ${dateText(statementOn)}`;
}

/** Returns an issued invoice's balance in minor units; negative for one that was overpaid. */
export function balanceMinorOf({ amountDueMinor = 0, creditBalanceMinor = 0 }: Invoice): number {
  return amountDueMinor - creditBalanceMinor;
}

/** Returns the balance of a statement of account: its label, and its amount in minor units. */
export function balanceOf({ record, account }: PrintedDocument): [string, number] {
  const balanceMinor = account ? account.openMinor - account.creditMinor : balanceMinorOf(record);
  return balanceMinor < 0 ? ['Credit balance', -balanceMinor] : ['Balance due', balanceMinor];
}

/** Returns the sums of a statement of account, the balance last: labels, and amounts in minor units. */
export function accountSumsOf(printed: PrintedDocument): [string, number][] {
  const { openMinor = 0, creditMinor = 0 } = printed.account ?? {};
  const parts: [string, number][] = [
    ['Left to pay', openMinor],
    ['In credit', -creditMinor],
  ];
  return [...(creditMinor > 0 ? parts : []), balanceOf(printed)];
}

/** Returns the name of the invoice or the customer that a statement of account is about. */
export function subjectOf({ record, account }: PrintedDocument): string {
  return account ? record.customer.name : `invoice ${numberOf(record)}`;
}

/** Returns the warning for a document that could be mistaken for a VAT invoice; undefined for any other. */
export function warningOf(record: Invoice): string | undefined {
  const warnings = [
    ...(isDraft(record) ? ['DRAFT – not a VAT invoice'] : []),
    ...(record.kind === 'pro_forma' ? ['PRO FORMA – this is not a VAT invoice'] : []),
  ];
  return warnings.length === 0 ? undefined : warnings.join('\n');
}

/** Returns the supplier's trading name, or else its legal name. */
export function supplierName({ supplier }: PrintedDocument): string {
  return supplier.tradingName ?? supplier.legalName ?? '';
}

/** Whether a document has VAT columns; an unregistered supplier's document has none. */
export function showsVat({ lines }: Invoice): boolean {
  return lines.some(({ vatCategory }) => vatCategory !== 'O');
}

/** The issue date as tax point, for an invoice issued before its supply ends (UK VATA 1994 s.6(4), IE VATCA 2010 s.74). */
export function taxPointOf(record: Invoice): string | null {
  const { kind, supplyPeriod, issueDate } = record;
  const isInAdvance = supplyPeriod !== null && issueDate !== null && supplyPeriod.endDate > issueDate;
  return kind === 'invoice' && isInAdvance && showsVat(record) ? issueDate : null;
}

/** Whether both parties are in one country; a reverse charge between them is the one on construction. */
export function isDomestic({ record, supplier }: PrintedDocument): boolean {
  return record.buyer.countryCode === supplier.countryCode;
}

/**
 * Whether reverse-charge VAT must not be shown, as for Irish construction (Revenue, Tax Briefing 69).
 */
export function hidesReverseCharge(printed: PrintedDocument): boolean {
  return printed.supplier.countryCode === 'IE' && isDomestic(printed);
}

/** Whether all lines are Irish construction under reverse charge, so that no VAT rate or amount is shown, not even zero. */
export function isSilent(printed: PrintedDocument): boolean {
  const isReverseCharge = printed.record.lines.every(({ vatCategory }) => vatCategory === 'AE');
  return isReverseCharge && hidesReverseCharge(printed);
}

/** Whether all lines are sold under a margin scheme, so that VAT in the price must not be shown (Directive art. 325). */
export function isMarginOnly({ lines }: Invoice): boolean {
  return lines.length > 0 && lines.every(isMargin);
}

export function vatOfLine(line: InvoiceLine, printed: PrintedDocument): string {
  if (line.vatCategory === 'AE') {
    const rate = hidesReverseCharge(printed) ? undefined : printed.reverseChargeRates[line.id];
    return rate === undefined ? 'Reverse charge' : `Reverse charge ${rateText(rate)}`;
  }
  if (isMargin(line)) return 'Margin scheme';
  return categoryText(line.vatCategory, line.vatRateBasisPoints);
}

export function isMargin({
  vatCategory,
  vatExemptionReason,
}: {
  vatCategory: string;
  vatExemptionReason?: string | null;
}): boolean {
  return vatCategory === 'E' && /^margin scheme/i.test(vatExemptionReason ?? '');
}

const categoryTexts: Partial<Record<string, string>> = {
  Z: 'Zero-rated 0%',
  E: 'Exempt',
  AE: 'Reverse charge',
  K: 'Intra-Community 0%',
  G: 'Export 0%',
  O: 'Outside scope',
};

/** Returns a VAT category (UNCL 5305) and its rate in words. */
export function categoryText(category: string, rateBasisPoints: number): string {
  return categoryTexts[category] ?? rateText(rateBasisPoints);
}

const regions = new Intl.DisplayNames(['en-GB'], { type: 'region' });

export function countryName(code: string): string {
  // Northern Ireland has a code of its own only in VAT numbers.
  return code === 'XI' ? 'Northern Ireland' : (regions.of(code) ?? code);
}

const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** Formats a calendar date such as '2026-11-09' as '9 November 2026'. */
export function dateText(date: string): string {
  return days.format(new Date(date));
}

/** Formats a period as '9 to 13 November 2026', naming a shared month and year once, or with one day alone. */
export function periodText({ startDate, endDate }: { startDate?: string; endDate?: string }): string {
  if (startDate === undefined || endDate === undefined)
    return `${startDate === undefined ? 'until' : 'from'} ${dateText(startDate ?? endDate ?? '')}`;
  if (startDate === endDate) return dateText(endDate);
  const [start, end] = [dateText(startDate).split(' '), dateText(endDate).split(' ')];
  // Drops the year, and then the month, from the start where the end has the same.
  while (start.at(-1) === end[start.length - 1]) start.pop();
  return `${start.join(' ')} to ${end.join(' ')}`;
}
