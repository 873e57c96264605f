import { lineAmountMinor, totals, vatBreakdown } from '../contract/vat.ts';
import type { DraftLine } from '../contract/feed.ts';
import type { DemoCustomer, Segment } from './customers.ts';
import type { Random, Weighted } from './random.ts';
import {
  contractWork,
  damageCompensation,
  everydayWork,
  goodsWork,
  solarWork,
  trainingWork,
} from './work-catalogue.ts';
import type { Work, WorkItem } from './work-catalogue.ts';

/** The work for a customer, and how VAT is charged on it. */
export interface Deal {
  customer: DemoCustomer;
  siteId: string | null;
  work: Work;
  vat: VatTreatment;
}

interface VatTreatment {
  category: DraftLine['vatCategory'];
  /** The legal note on the document, where that isn't filled in. */
  reason?: string;
}

const charged: VatTreatment = { category: 'S' };
const zeroRated: VatTreatment = { category: 'Z' };
const exempt: VatTreatment = { category: 'E', reason: 'Exempt: VATCA 2010 Schedule 1 paragraph 4' };
const outOfScope: VatTreatment = { category: 'O', reason: 'Outside the scope of VAT: compensation' };
/** On construction, to a principal contractor, or on services, to a business abroad. */
const reverseCharge: VatTreatment = { category: 'AE' };
const toNorthernIreland: VatTreatment = { category: 'K' };
const exported: VatTreatment = { category: 'G' };

type Choice = (random: Random) => Pick<Deal, 'work' | 'vat'>;

const everyday: Choice = (random) => ({ work: random.pick(everydayWork), vat: charged });

const choices: Record<Segment, readonly [Weighted<Choice>, ...Weighted<Choice>[]]> = {
  home: [
    [79, everyday],
    [16, () => ({ work: solarWork, vat: zeroRated })],
    [5, () => ({ work: damageCompensation, vat: outOfScope })],
  ],
  business: [
    [86, everyday],
    [10, () => ({ work: trainingWork, vat: exempt })],
    [4, () => ({ work: goodsWork, vat: charged })],
  ],
  principalContractor: [
    [80, (random) => ({ work: random.pick(everydayWork), vat: reverseCharge })],
    [20, () => ({ work: goodsWork, vat: charged })],
  ],
  britishOwner: [[1, everyday]],
  britishBusiness: [
    [55, (random) => ({ work: random.pick(contractWork), vat: reverseCharge })],
    [45, () => ({ work: goodsWork, vat: exported })],
  ],
  northernIrishBusiness: [[1, () => ({ work: goodsWork, vat: toNorthernIreland })]],
};

export function makeDeal(customer: DemoCustomer, random: Random): Deal {
  const { siteIds, segment } = customer;
  const siteId = siteIds[random.integer(0, siteIds.length - 1)] ?? null;
  return { customer, siteId, ...random.weighted(choices[segment])(random) };
}

/** A contract that is invoiced by the period and not by the job. */
export function makeContractDeal(customer: DemoCustomer, random: Random): Deal {
  const deal = makeDeal(customer, random);
  return deal.vat.category === 'S' ? { ...deal, work: random.pick(contractWork) } : deal;
}

/** The charges of the deal: the work itself, some of its extras, perhaps waste removal, perhaps a discount. */
export function lineItems(deal: Deal, random: Random): DraftLine[] {
  const { work, vat } = deal;
  const items = work.items.filter((_, index) => index === 0 || random.chance(0.55));
  const lines = items.map((item) =>
    draftLine(deal, item, random.pick(item.quantities), work.rateBasisPoints),
  );
  if (vat.category === 'S' && random.chance(0.15)) lines.push(draftLine(deal, wasteRemoval, '1', 2300));
  const [first] = lines;
  if (first && random.chance(0.06)) {
    // It lowers the amount of the first line's category and rate, and of no other.
    const unitPriceMinor = Math.floor(amountMinorOf(first) / 20);
    lines.push({ ...first, ...discount, unitPriceMinor });
  }
  return lines;
}

/** A fifth of the first line, given back. */
export function goodwill([first]: readonly DraftLine[]): DraftLine[] {
  if (!first) return [];
  const description = `Reduction of 20 %: ${first.description}`;
  const unitPriceMinor = Math.floor(amountMinorOf(first) / 5);
  return [{ ...first, description, quantity: '1', unitCode: 'C62', unitPriceMinor }];
}

/** The amount that a document with these lines will ask for. */
export function grossMinorOf(lines: readonly DraftLine[]): number {
  const amounts = lines.map((line) => ({ ...line, amountMinor: amountMinorOf(line) }));
  return totals(vatBreakdown(amounts)).grossMinor;
}

function amountMinorOf({ quantity, unitPriceMinor }: DraftLine): number {
  return lineAmountMinor(quantity, unitPriceMinor ?? 0);
}

const wasteRemoval: WorkItem = {
  description: 'Removal of waste, per load',
  unitCode: 'C62',
  quantities: ['1'],
  unitPriceMinor: 9_750,
};
const discount = { description: 'Discount of 5 % on the first item', unitCode: 'C62', quantity: '-1' };

function draftLine(
  { customer, vat }: Deal,
  item: WorkItem,
  quantity: string,
  rateBasisPoints: number,
): DraftLine {
  // A pound is worth more than a euro.
  const isSterling = customer.currency === 'GBP';
  return {
    description: item.description,
    quantity,
    unitCode: item.unitCode,
    unitPriceMinor: isSterling ? Math.round(item.unitPriceMinor * 0.86) : item.unitPriceMinor,
    vatCategory: vat.category,
    vatRateBasisPoints: vat.category === 'S' ? rateBasisPoints : 0,
    ...(vat.reason === undefined ? {} : { vatExemptionReason: vat.reason }),
  };
}
