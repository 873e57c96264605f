import type { Change, NewInvoice } from '../../../../src/contract/feed.ts';
import type { Invoice } from '../../../../src/contract/records.ts';
import { applyChange } from '../../../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../../../src/server/backoffice/backoffice.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { STORY_NOW } from '../../../_server.ts';
import { recordIn } from '../../backoffice/_backoffice.ts';
import { line } from '../../backoffice/_documents.ts';
import { COMPANY } from '../../portal/_portal.ts';

/** An invoice that says of its amounts all that one can: prices with VAT, discounts, a charge, rounding, and what was paid before. */
const rich: NewInvoice = {
  kind: 'invoice',
  customerId: 'cus_0003',
  pricesIncludeVat: true,
  lines: [
    line({
      description: 'Boiler service\nwith <b>parts</b>',
      unitPriceMinor: 8000,
      allowances: [{ percent: '10', reason: 'Regular customer' }],
    }),
    line({
      description: 'Copper pipe',
      quantity: '35.5',
      unitCode: 'MTR',
      unitPrice: '412.3456',
      priceBaseQuantity: '100',
      sellerItemId: 'PIPE-15',
    }),
  ],
  allowances: [{ amountMinor: 500, reason: 'Goodwill', vatCategory: 'S', vatRateBasisPoints: 2300 }],
  charges: [{ amountMinor: 1230, reason: 'Call-out', vatCategory: 'S', vatRateBasisPoints: 2300 }],
  prepayments: [{ paidOn: '2026-11-10', method: 'bank_transfer', amountMinor: 10_000, reference: 'Order 7' }],
  cashRounding: true,
};

/** Issues an invoice of the example company, rich unless told. */
export async function issueInvoice(engine: Engine, given: Partial<NewInvoice> = rich): Promise<Invoice> {
  const backoffice = openBackoffice(engine, { now: () => STORY_NOW });
  const apply = async (change: Omit<Change, 'company'>): Promise<Invoice> => {
    return recordIn(await applyChange(backoffice, { company: COMPANY, ...change } as Change));
  };
  const { id } = await apply({ change: 'invoice.draft', with: { ...rich, ...given } });
  return apply({ change: 'invoice.issue', with: { id } });
}
