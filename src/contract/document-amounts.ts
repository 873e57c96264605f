import type { DraftLine, NewInvoice } from './feed.ts';

/** Fields of a draft that determine amounts and that the API doesn't expose. */
export type GivenAmounts = Pick<
  NewInvoice,
  'pricesIncludeVat' | 'allowances' | 'charges' | 'prepayments' | 'roundingMinor' | 'cashRounding'
>;

/** Fields of a draft line that determine amounts and that the API doesn't expose. */
export type GivenLineAmounts = Pick<
  DraftLine,
  'unitPriceMinor' | 'unitPrice' | 'priceBaseQuantity' | 'allowances' | 'charges'
>;

/** A discount or charge with its computed amounts (BG-20, BG-21, BG-27 and BG-28), in minor units. */
export interface Adjustment {
  /** Amount without VAT in minor units, negative only on a line with a negative amount. */
  amountMinor: number;
  /** Amount with VAT as given in the draft; absent if prices exclude VAT. */
  grossMinor?: number;
  /** Percentage of `baseMinor`, as given in the draft; absent if the draft gives only an amount. */
  percent?: string;
  baseMinor?: number;
  reason?: string;
  reasonCode?: string;
}

export interface DocumentAdjustment extends Adjustment {
  vatCategory: DraftLine['vatCategory'];
  vatRateBasisPoints: number;
  /** Reason for exemption; only for a charge in category E when no line is in that category. */
  vatExemptionReason?: string;
  vatExemptionReasonCode?: string;
}

export interface LineAmounts {
  /** Fields of the line as given in its draft, from which it can be drafted again. */
  given: GivenLineAmounts;
  /** Exact price in the main unit, with VAT if prices include it; undefined if the price in the record is exact. */
  unitPrice?: string;
  priceBaseQuantity?: string;
  /** Line amount with VAT; absent if prices exclude VAT. */
  grossMinor?: number;
  allowances: Adjustment[];
  charges: Adjustment[];
  /** Id of the invoice line that this line of a credit note credits in part; absent for any other line. */
  creditsLineId?: string;
}

export type Prepayment = NonNullable<NewInvoice['prepayments']>[number] & {
  id: string;
  /** Number of the document that requested the prepayment; absent if that document isn't stored here. */
  documentNumber?: string;
};

/** Amounts of a document that the API doesn't expose. They are stored only for documents that have any. */
export interface DocumentAmounts {
  given: GivenAmounts;
  /** Amounts of each line that the API doesn't expose, by line id. */
  lines: Record<string, LineAmounts>;
  allowances: DocumentAdjustment[];
  charges: DocumentAdjustment[];
  prepayments: Prepayment[];
  /** Rounding added to the total with VAT (BT-114), in minor units. */
  roundingMinor: number;
}
