import { allowanceReasons, chargeReasons } from '../../contract/code-lists.ts';
import type { Adjustment } from '../../contract/document-amounts.ts';
import { moneyFormat, quantityText } from './amounts.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import type { InvoiceLine } from '../printed-document/wording.ts';

/** A discount or charge in words, with its amount, which is below zero for a discount. */
interface AdjustmentText {
  label: string;
  countedMinor: number;
}

/** Names a discount or charge by its reason, or else by its code, with its percentage and base. */
export function adjustmentText(
  kind: 'discount' | 'charge',
  { amountMinor, grossMinor = amountMinor, percent, baseMinor, reason, reasonCode = '' }: Adjustment,
  currency: string,
): AdjustmentText {
  const { plain } = moneyFormat(currency);
  const [word, reasons] = kind === 'discount' ? ['Discount', allowanceReasons] : ['Charge', chargeReasons];
  const name = reason ?? (reasons.get(reasonCode) || `${word} (code ${reasonCode})`);
  const percentage = percent === undefined ? '' : `${quantityText(percent)}% `;
  const share = baseMinor === undefined ? '' : ` (${percentage}of ${plain(baseMinor)})`;
  return { label: `${name}${share}`, countedMinor: kind === 'discount' ? -grossMinor : grossMinor };
}

/** The amount of a line: with VAT where the prices include it. */
export function shownMinor({ id, amountMinor }: InvoiceLine, { amounts }: PrintedDocument): number {
  return amounts?.lines[id]?.grossMinor ?? amountMinor;
}
