/** Exact prices, prices that include VAT, and what discounts and charges make of them. */
import type {
  Adjustment,
  DocumentAdjustment,
  GivenLineAmounts,
  LineAmounts,
} from '../../contract/document-amounts.ts';
import type { DraftLine, GivenAdjustment, NewInvoice } from '../../contract/feed.ts';
import type { Invoice } from '../../contract/records.ts';
import { withValue } from '../../contract/document-terms.ts';
import { sumMinor } from '../../contract/exact.ts';
import { lineAmountMinor, netShares, type VatLine, vatWithinMinor } from '../../contract/vat.ts';
import { adjustmentOf, type List } from './adjustments.ts';
import { refuseBadExemptionCode } from './document-terms.ts';
import { exemptionText } from './legends.ts';
import { Refusal, withinRange } from './refusal.ts';
import { isVisible } from './text-rules.ts';

/** The members of a draft that its sums are worked out from. */
export type AmountsDraft = Pick<NewInvoice, 'lines' | 'pricesIncludeVat' | 'allowances' | 'charges'> & {
  currency: string;
};

/** A line with its amount, which includes VAT where the prices do. */
export interface PricedLine {
  line: DraftLine;
  amountMinor: number;
  /** Undefined where quantity times `unitPriceMinor` says it all. */
  amounts?: LineAmounts | undefined;
}

export interface Adjustments {
  allowances: DocumentAdjustment[];
  charges: DocumentAdjustment[];
}

type Category = Pick<VatLine, 'vatCategory' | 'vatRateBasisPoints'>;

/**
 * Works out the amount of a line from what it gives itself.
 * @throws Refusal for two prices or none, a bad discount or charge, and an amount beyond 2^53 - 1.
 */
export function pricedLine(line: DraftLine, draft: Omit<AmountsDraft, 'lines'>, path: string): PricedLine {
  const { unitPriceMinor, unitPrice, priceBaseQuantity, quantity, allowances = [], charges = [] } = line;
  refuseBadPrice(line, path);
  const wholeMinor = withinRange(path, () =>
    lineAmountMinor(quantity, { currency: draft.currency, unitPriceMinor, unitPrice, priceBaseQuantity }),
  );
  const whole = { minor: wholeMinor, isBelowZero: wholeMinor < 0 };
  const worked = (list: List, given: readonly GivenAdjustment[]) =>
    given.map((one, index) => adjustmentOf(list, one, whole, `${path}/${list}/${index}`));
  const own = { allowances: worked('allowances', allowances), charges: worked('charges', charges) };
  const amountMinor = withinRange(path, () => sumMinor([wholeMinor, ...signedMinors(own)]));
  withinRange(path, () => refuseBeyondZero(wholeMinor, own, path));
  const given = givenOf(line);
  const isPlain =
    draft.pricesIncludeVat !== true && Object.keys(given).length === 1 && unitPriceMinor !== undefined;
  return { line, amountMinor, amounts: isPlain ? undefined : { given, ...exactPrice(given), ...own } };
}

/** Discounts take at most what a line comes to with its charges, be that below zero. */
function refuseBeyondZero(wholeMinor: number, own: Pick<LineAmounts, List>, path: string): void {
  const isBelowZero = wholeMinor < 0;
  // A charge above zero makes a line below zero no larger.
  const alike = minorsOf(own.charges).filter((minor) => minor < 0 === isBelowZero);
  const mostMinor = sumMinor([wholeMinor, ...alike]);
  const takenMinor = sumMinor(minorsOf(own.allowances));
  if (isBelowZero ? takenMinor >= mostMinor : takenMinor <= mostMinor) return;
  const message = `The discounts of ${path} take more than the ${mostMinor} that the line comes to.`;
  throw new Refusal('invalid_change', message, `${path}/allowances`);
}

/** The members of a line that its price and amount are worked out from, without those that are empty. */
export function givenOf(line: GivenLineAmounts): GivenLineAmounts {
  const { unitPriceMinor, unitPrice, priceBaseQuantity, allowances = [], charges = [] } = line;
  return {
    ...(unitPriceMinor === undefined ? {} : { unitPriceMinor }),
    ...(unitPrice === undefined ? {} : { unitPrice }),
    ...(priceBaseQuantity === undefined ? {} : { priceBaseQuantity }),
    ...(allowances.length === 0 ? {} : { allowances }),
    ...(charges.length === 0 ? {} : { charges }),
  };
}

/** The price of a line, where it is exact or for a number of units. */
export function exactPrice({ unitPrice, priceBaseQuantity }: GivenLineAmounts) {
  return {
    ...(unitPrice === undefined ? {} : { unitPrice }),
    ...(priceBaseQuantity === undefined ? {} : { priceBaseQuantity }),
  };
}

function refuseBadPrice({ unitPriceMinor, unitPrice }: DraftLine, path: string): void {
  if (unitPriceMinor === undefined && unitPrice === undefined)
    throw new Refusal('invalid_change', `${path} has no unitPriceMinor.`, `${path}/unitPriceMinor`);
  if (unitPriceMinor === undefined || unitPrice === undefined) return;
  const message = `${path} has unitPriceMinor ${unitPriceMinor} and unitPrice ${unitPrice}; it has one of them.`;
  throw new Refusal('invalid_change', message, `${path}/unitPrice`);
}

/**
 * Works out the discounts and charges of a document as a whole. `path` is where the draft is.
 * @throws Refusal for one that is bad, in a category that no line has, or more than its lines.
 */
export function documentAdjustments(
  draft: AmountsDraft,
  lines: readonly PricedLine[],
  path: string,
): Adjustments {
  const worked = (list: List) =>
    (draft[list] ?? []).map((given, index): DocumentAdjustment => {
      const { vatCategory, vatRateBasisPoints } = given;
      const at = `${path}/${list}/${index}`;
      const own = lines.filter(({ line }) => isOfCategory(line, given));
      const isWithCharge = list === 'allowances' && draft.charges?.some((one) => isOfCategory(one, given));
      const standsAlone = own.length === 0 && isWithCharge !== true;
      const isPossible =
        STANDING_ALONE.includes(vatCategory) && (vatCategory === 'S') === vatRateBasisPoints > 0;
      if (standsAlone && !(list === 'charges' && isPossible)) {
        const message = `${at} is in category ${vatCategory} at ${vatRateBasisPoints} basis points, which no line has.`;
        throw new Refusal('invalid_change', message, `${at}/vatCategory`);
      }
      const exemption = exemptionOf(given, standsAlone && vatCategory === 'E', at);
      const wholeMinor = withinRange(at, () => sumMinor(minorsOf(own)));
      const whole = { minor: wholeMinor, isBelowZero: false };
      return { ...adjustmentOf(list, given, whole, at), vatCategory, vatRateBasisPoints, ...exemption };
    });
  const adjustments = { allowances: worked('allowances'), charges: worked('charges') };
  refuseExcessiveAllowances(adjustments, lines, path);
  return adjustments;
}

/** The categories of charges that no line needs to have. The others depend on what is sold to whom. */
const STANDING_ALONE = ['S', 'Z', 'E'];

const EXEMPTION = ['vatExemptionReason', 'vatExemptionReasonCode'] as const;

/** Why a charge has no VAT, where no line says it (BR-E-10). */
function exemptionOf(
  given: NonNullable<AmountsDraft['charges']>[number],
  isNeeded: boolean,
  path: string,
): Pick<DocumentAdjustment, (typeof EXEMPTION)[number]> {
  const isGiven = EXEMPTION.some((name) => given[name] !== undefined);
  const vatExemptionReason = given.vatExemptionReason ?? exemptionText(given.vatExemptionReasonCode);
  if (isNeeded ? !isVisible(vatExemptionReason) : isGiven) {
    const problem = isNeeded
      ? 'is in category E, which no line has, and has no vatExemptionReason'
      : 'has a vatExemptionReason, which is for a charge in a category E that no line has';
    throw new Refusal('invalid_change', `${path} ${problem}.`, `${path}/vatExemptionReason`);
  }
  refuseBadExemptionCode(given.vatExemptionReasonCode, given.vatCategory, path);
  return withValue({ ...given, ...(vatExemptionReason && { vatExemptionReason }) }, EXEMPTION);
}

function refuseExcessiveAllowances(
  { allowances, charges }: Adjustments,
  lines: readonly PricedLine[],
  path: string,
): void {
  for (const [index, allowance] of allowances.entries()) {
    const own = lines.filter(({ line }) => isOfCategory(line, allowance));
    const added = charges.filter((charge) => isOfCategory(charge, allowance));
    const upTo = allowances.slice(0, index + 1).filter((other) => isOfCategory(other, allowance));
    const sum = (list: readonly { amountMinor: number }[]) =>
      withinRange(path, () => sumMinor(minorsOf(list)));
    const [wholeMinor, takenMinor] = [sum([...own, ...added]), sum(upTo)];
    if (takenMinor <= Math.max(0, wholeMinor)) continue;
    const message = `The discounts in category ${allowance.vatCategory} at ${allowance.vatRateBasisPoints} basis points take ${takenMinor}, and its lines and charges come to ${wholeMinor}.`;
    throw new Refusal('invalid_change', message, `${path}/allowances/${index}`);
  }
}

export function isOfCategory(one: Category, other: Category): boolean {
  return one.vatCategory === other.vatCategory && one.vatRateBasisPoints === other.vatRateBasisPoints;
}

const minorsOf = (list: readonly { amountMinor: number }[]) => list.map(({ amountMinor }) => amountMinor);

/** The amounts of charges, and those of discounts below zero. */
function signedMinors({ allowances, charges }: Pick<LineAmounts, List>): number[] {
  return [...minorsOf(charges), ...minorsOf(allowances).map((minor) => -minor)];
}

/** The parts of a breakdown: the lines, the charges, and the discounts below zero. */
export function vatLinesOf(
  lines: readonly (Category & { amountMinor: number })[],
  { allowances, charges }: Adjustments,
): VatLine[] {
  return [
    ...lines,
    ...charges,
    ...allowances.map(({ amountMinor, ...one }) => ({ ...one, amountMinor: -amountMinor })),
  ];
}

/** Takes the VAT out of lines, discounts and charges, so that those of each item add up to its `taxableMinor`. */
export function withoutVat(
  lines: readonly PricedLine[],
  { allowances, charges }: Adjustments,
  breakdown: Invoice['vatBreakdown'],
): { lines: PricedLine[]; adjustments: Adjustments } {
  const nets = new Map<object, number>();
  const taken = new Set<object>(allowances);
  for (const { category, rateBasisPoints, taxableMinor } of breakdown) {
    const item = { vatCategory: category, vatRateBasisPoints: rateBasisPoints };
    const parts = [
      ...lines.filter(({ line }) => isOfCategory(line, item)),
      ...[...charges, ...allowances].filter((one) => isOfCategory(one, item)),
    ];
    const signed = parts.map((part) => (taken.has(part) ? -part.amountMinor : part.amountMinor));
    const shares = netShares(signed, taxableMinor, chargedRate(item));
    for (const [index, part] of parts.entries()) nets.set(part, shares[index] ?? 0);
  }
  const netOf = (one: DocumentAdjustment) => {
    return { ...one, amountMinor: Math.abs(nets.get(one) ?? 0), grossMinor: one.amountMinor };
  };
  return {
    lines: lines.map((priced) => netLine(priced, nets.get(priced) ?? 0)),
    adjustments: { allowances: allowances.map(netOf), charges: charges.map(netOf) },
  };
}

const chargedRate = ({ vatCategory, vatRateBasisPoints }: Category) =>
  vatCategory === 'S' ? vatRateBasisPoints : 0;

function netLine({ line, amountMinor: grossMinor, amounts }: PricedLine, amountMinor: number): PricedLine {
  const net = (list: readonly Adjustment[]) =>
    list.map((one) => {
      const ownMinor = one.amountMinor - vatWithinMinor(one.amountMinor, chargedRate(line));
      return { ...one, amountMinor: ownMinor, grossMinor: one.amountMinor };
    });
  const { allowances = [], charges = [] } = amounts ?? {};
  const worked = amounts && { ...amounts, grossMinor, allowances: net(allowances), charges: net(charges) };
  return { line, amountMinor, amounts: worked };
}
