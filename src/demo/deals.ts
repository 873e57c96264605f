import type { Invoice } from '../contract/records.ts';
import { lineAmountMinor } from '../backoffice/vat.ts';
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

export type Line = Invoice['lines'][number];

/** A line of a document that does not exist yet. */
export type LinePlan = Omit<Line, 'id' | 'position' | 'jobId'>;

/** What is done for a customer, and how VAT is charged on it. */
export interface Deal {
  customer: DemoCustomer;
  site: DemoCustomer['record']['sites'][number] | undefined;
  work: Work;
  vat: VatTreatment;
}

interface VatTreatment {
  category: string;
  /** What the law wants on the document when no VAT is charged; null where it is, or where the rate is zero. */
  reason: string | null;
}

const charged: VatTreatment = { category: 'S', reason: null };
const zeroRated: VatTreatment = { category: 'Z', reason: null };
const exempt: VatTreatment = { category: 'E', reason: 'Exempt: VATCA 2010 Schedule 1 paragraph 4' };
const outOfScope: VatTreatment = { category: 'O', reason: 'Outside the scope of VAT: compensation' };
const toPrincipalContractor: VatTreatment = {
  category: 'AE',
  reason: 'VAT on this supply to be accounted for by the Principal Contractor.',
};
const reverseCharge: VatTreatment = { category: 'AE', reason: 'Reverse charge' };
const toNorthernIreland: VatTreatment = { category: 'K', reason: 'Intra-Community supply of goods' };
const exported: VatTreatment = { category: 'G', reason: 'Export outside the EU' };

type Choice = (random: Random) => Pick<Deal, 'work' | 'vat'>;

const everyday: Choice = (random) => ({ work: random.pick(everydayWork), vat: charged });
const reverseCharged: Choice = (random) => ({ work: random.pick(contractWork), vat: reverseCharge });

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
    [80, (random) => ({ work: random.pick(everydayWork), vat: toPrincipalContractor })],
    [20, () => ({ work: goodsWork, vat: charged })],
  ],
  britishOwner: [[1, everyday]],
  britishBusiness: [
    [55, reverseCharged],
    [45, () => ({ work: goodsWork, vat: exported })],
  ],
  northernIrishBusiness: [
    [60, () => ({ work: goodsWork, vat: toNorthernIreland })],
    [40, reverseCharged],
  ],
};

export function makeDeal(customer: DemoCustomer, random: Random): Deal {
  const { sites } = customer.record;
  const site = sites[random.integer(0, sites.length - 1)];
  return { customer, site, ...random.weighted(choices[customer.segment])(random) };
}

/** A contract that is invoiced by the period and not by the job. */
export function makeContractDeal(customer: DemoCustomer, random: Random): Deal {
  const deal = makeDeal(customer, random);
  return deal.vat.category === 'S' ? { ...deal, work: random.pick(contractWork) } : deal;
}

/** What the deal is charged at: the work itself, some of its extras, perhaps waste removal, perhaps a discount. */
export function lineItems(deal: Deal, random: Random): LinePlan[] {
  const { work } = deal;
  const items = work.items.filter((_, index) => index === 0 || random.chance(0.55));
  const lines = items.map((item) => linePlan(deal, item, random.pick(item.quantities), work.rateBasisPoints));
  if (deal.vat.category === 'S' && random.chance(0.15)) lines.push(linePlan(deal, wasteRemoval, '1', 2300));
  const netMinor = lines.reduce((sum, line) => sum + line.amountMinor, 0);
  if (random.chance(0.06)) {
    // It lowers the amount of the first line's category and rate, and of no other.
    const unitPriceMinor = Math.floor((lines[0]?.amountMinor ?? netMinor) / 20);
    lines.push({
      ...linePlan(deal, discount, '-1', work.rateBasisPoints),
      unitPriceMinor,
      amountMinor: -unitPriceMinor,
    });
  }
  return lines;
}

const wasteRemoval: WorkItem = {
  description: 'Removal of waste, per load',
  unitCode: 'C62',
  quantities: ['1'],
  unitPriceMinor: 9_750,
};
const discount: WorkItem = {
  description: 'Discount of 5 % on the first item',
  unitCode: 'C62',
  quantities: ['-1'],
  unitPriceMinor: 0,
};

function linePlan(
  { customer, vat }: Deal,
  item: WorkItem,
  quantity: string,
  rateBasisPoints: number,
): LinePlan {
  // A pound buys more than a euro.
  const isSterling = customer.record.currency === 'GBP';
  const unitPriceMinor = isSterling ? Math.round(item.unitPriceMinor * 0.86) : item.unitPriceMinor;
  return {
    description: item.description,
    quantity,
    unitCode: item.unitCode,
    unitPriceMinor,
    amountMinor: lineAmountMinor(quantity, unitPriceMinor),
    vatCategory: vat.category,
    vatRateBasisPoints: vat.category === 'S' ? rateBasisPoints : 0,
    vatExemptionReason: vat.reason,
  };
}
