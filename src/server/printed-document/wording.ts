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

/** Kinds of invoices that say so themselves (UNTDID 1001). */
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

/** When VAT becomes chargeable (UNTDID 2005). */
export const taxPoints: Partial<Record<string, string>> = {
  3: 'Date of issue',
  35: 'Date of delivery',
  432: 'Date of payment',
};

/** The kind of a document in words. */
export function titleOf({ kind }: Invoice): string {
  return titles[kind];
}

export function isDraft({ status }: Invoice): boolean {
  return status === 'draft';
}

/** Whether a statement of account can be made of a document. */
export function hasStatement({ kind, status }: Invoice): boolean {
  return kind === 'invoice' && status === 'issued';
}

/** Whether a document asks for money: neither a credit note nor one on which nothing is to pay does. */
export function asksForPayment({ record, amounts }: PrintedDocument): boolean {
  return record.kind !== 'credit_note' && payableMinor(record.totals, amounts) > 0;
}

/** The day on which a document is due, also if all of it was paid before. An invoice of zero, as under a warranty, has none. */
export function dueDateOf(printed: PrintedDocument): string | null {
  const { dueDate, totals } = printed.record;
  return totals.grossMinor > 0 || asksForPayment(printed) ? dueDate : null;
}

/** The amount paid before an invoice beyond its total, which is owed back. */
export function overpaidMinor({ record, amounts }: PrintedDocument): number {
  const isPrepaid = (amounts?.prepayments ?? []).length > 0;
  return isPrepaid ? Math.max(0, -payableMinor(record.totals, amounts)) : 0;
}

export function pricesIncludeVat({ amounts }: PrintedDocument): boolean {
  return amounts?.given.pricesIncludeVat === true;
}

/** The number, or the word that stands for it on a draft. */
export function numberOf({ number }: Invoice): string {
  return number ?? 'DRAFT';
}

/** The document with its number, or the statement about it, as heads, feet and the title of the PDF name it. */
export function documentName({ record, statementOn }: PrintedDocument): string {
  if (statementOn === undefined) return `${titleOf(record)} ${numberOf(record)}`;
  return `Statement of account for invoice ${numberOf(record)} as of ${dateText(statementOn)}`;
}

/** The balance of an issued invoice, in words and as an amount. */
export function balanceOf({ amountDueMinor = 0, creditBalanceMinor = 0 }: Invoice): [string, number] {
  return creditBalanceMinor > 0 ? ['Credit balance', creditBalanceMinor] : ['Balance due', amountDueMinor];
}

/** The warning under the title of what could be mistaken for a VAT invoice; undefined on what can't. */
export function warningOf(record: Invoice): string | undefined {
  const warnings = [
    ...(isDraft(record) ? ['DRAFT – not a VAT invoice'] : []),
    ...(record.kind === 'pro_forma' ? ['PRO FORMA – this is not a VAT invoice'] : []),
  ];
  return warnings.length === 0 ? undefined : warnings.join('\n');
}

/** The supplier's name: the trading name, where there is one. */
export function supplierName({ supplier }: PrintedDocument): string {
  return supplier.tradingName ?? supplier.legalName ?? '';
}

/** The documents of an unregistered supplier have no columns for VAT. */
export function showsVat({ lines }: Invoice): boolean {
  return lines.some(({ vatCategory }) => vatCategory !== 'O');
}

/** The day of issue, of an invoice before the end of its supply (UK VATA 1994 s.6(4), IE VATCA 2010 s.74). */
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
 * Irish construction under reverse charge: the document may show neither rate nor amount (Revenue, Tax Briefing 69).
 */
export function hidesReverseCharge(printed: PrintedDocument): boolean {
  return printed.supplier.countryCode === 'IE' && isDomestic(printed);
}

/** Whether all lines are such construction: then no rate and no amount of VAT is shown, not even zero. */
export function isSilent(printed: PrintedDocument): boolean {
  const isReverseCharge = printed.record.lines.every(({ vatCategory }) => vatCategory === 'AE');
  return isReverseCharge && hidesReverseCharge(printed);
}

/** Whether all lines are sold under a margin scheme: the VAT in the price may not be shown (Directive art. 325). */
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

/** A VAT category (UNCL 5305) and its rate in words. */
export function categoryText(category: string, rateBasisPoints: number): string {
  return categoryTexts[category] ?? rateText(rateBasisPoints);
}

const regions = new Intl.DisplayNames(['en-GB'], { type: 'region' });

export function countryName(code: string): string {
  // Northern Ireland has a code of its own only in VAT numbers.
  return code === 'XI' ? 'Northern Ireland' : (regions.of(code) ?? code);
}

const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** A calendar date of the contract, such as '2026-11-09', as '9 November 2026'. */
export function dateText(date: string): string {
  return days.format(new Date(date));
}

/** A period as '9 to 13 November 2026', naming month and year once where both days have the same; or with one day alone. */
export function periodText({ startDate, endDate }: { startDate?: string; endDate?: string }): string {
  if (startDate === undefined || endDate === undefined)
    return `${startDate === undefined ? 'until' : 'from'} ${dateText(startDate ?? endDate ?? '')}`;
  if (startDate === endDate) return dateText(endDate);
  const [start, end] = [dateText(startDate).split(' '), dateText(endDate).split(' ')];
  // The year is left out where it is the same, and so is the month.
  while (start.at(-1) === end[start.length - 1]) start.pop();
  return `${start.join(' ')} to ${end.join(' ')}`;
}
