import { allowanceReasons, chargeReasons } from '../../contract/code-lists.ts';
import type { Adjustment } from '../../contract/document-amounts.ts';
import { moneyFormat, quantityText } from './amounts.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { InvoiceLine } from './wording.ts';

/** The label of a discount or charge, with its amount in minor units, negative for a discount. */
interface AdjustmentText {
  label: string;
  countedMinor: number;
}

/** Returns the label and amount of a discount or charge: its reason or else its code, with any percentage and base. */
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

/** Returns the amount of a line in minor units, with VAT where prices include it. */
export function shownMinor({ id, amountMinor }: InvoiceLine, { amounts }: PrintedDocument): number {
  return amounts?.lines[id]?.grossMinor ?? amountMinor;
}
