import type { DraftLine, NewInvoice } from './feed.ts';

/** Members of a draft about its amounts that the API has no place for. */
export type GivenAmounts = Pick<
  NewInvoice,
  'pricesIncludeVat' | 'allowances' | 'charges' | 'prepayments' | 'roundingMinor' | 'cashRounding'
>;

/** Amounts of a line. */
export type GivenLineAmounts = Pick<
  DraftLine,
  'unitPriceMinor' | 'unitPrice' | 'priceBaseQuantity' | 'allowances' | 'charges'
>;

/** A discount or a charge, worked out (BG-20, BG-21, BG-27 and BG-28). Amounts are in minor units. */
export interface Adjustment {
  /** Without VAT, and below zero only on a line that is. */
  amountMinor: number;
  /** The amount with VAT, as it was given where prices include VAT. */
  grossMinor?: number;
  /** The amount of which the percentage was taken, as it was given. */
  percent?: string;
  baseMinor?: number;
  reason?: string;
  reasonCode?: string;
}

export interface DocumentAdjustment extends Adjustment {
  vatCategory: DraftLine['vatCategory'];
  vatRateBasisPoints: number;
  /** For a charge in a category E that no line has. */
  vatExemptionReason?: string;
  vatExemptionReasonCode?: string;
}

export interface LineAmounts {
  /** The members that the draft gave, which draft the line again. */
  given: GivenLineAmounts;
  /** The exact price in the main unit, with VAT where prices include it; undefined where the record has the exact one. */
  unitPrice?: string;
  priceBaseQuantity?: string;
  /** The amount of the line with VAT, where prices include it. */
  grossMinor?: number;
  allowances: Adjustment[];
  charges: Adjustment[];
  /** The invoice's line of which a credit note takes a part that is worked out from the whole. */
  creditsLineId?: string;
}

export type Prepayment = NonNullable<NewInvoice['prepayments']>[number] & {
  id: string;
  /** The number of the document that asked for it, where one here did. */
  documentNumber?: string;
};

/** Amounts of a document that the API has no place for. Documents without any have none. */
export interface DocumentAmounts {
  given: GivenAmounts;
  /** By the ids of the lines. */
  lines: Record<string, LineAmounts>;
  allowances: DocumentAdjustment[];
  charges: DocumentAdjustment[];
  prepayments: Prepayment[];
  /** Added to the total with VAT (BT-114). */
  roundingMinor: number;
}
