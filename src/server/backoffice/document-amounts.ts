/** Amounts from exact prices, prices that include VAT, discounts and charges. */
import type {
  Adjustment,
  DocumentAdjustment,
  GivenLineAmounts,
  LineAmounts,
} from '../../contract/document-amounts.ts';
import type { DraftLine, GivenAdjustment, NewInvoice } from '../../contract/feed.ts';
import type { Invoice } from '../../contract/records.ts';
import { pickDefined } from '../../contract/document-terms.ts';
import { sumMinor } from '../../contract/exact.ts';
import {
  type CurrencyConversion,
  lineAmountMinor,
  netShares,
  type VatLine,
  vatWithinMinor,
} from '../../contract/vat.ts';
import { adjustmentOf, type List } from './adjustments.ts';
import type { CreditedInvoice } from './credit-notes.ts';
import { refuseBadExemptionCode } from './document-terms.ts';
import { exemptionText } from './legends.ts';
import { Refusal, withinRange } from './refusal.ts';
import { isVisible } from './text-rules.ts';

/** A line of a draft, with an id generated where the draft gives none. */
export type OwnLine = DraftLine & { id: string };

/** A document whose amounts are being computed, step by step. */
export interface Composition {
  /** The draft's JSON Pointer within the change, for refusals. */
  path: string;
  currency: string;
  lines: OwnLine[];
  /** Whether prices, discounts and charges include VAT. */
  includesVat: boolean;
  /** Discounts and charges of the document, as its draft gives them. */
  given: Pick<NewInvoice, List>;
  /** The invoice that a credit note corrects; undefined for other documents. */
  credited: CreditedInvoice | undefined;
  /** The conversion to the accounting currency; null if that is the document's own. */
  conversion: CurrencyConversion | null;
}

/** A line of a draft with its computed amount. */
export type PricedLine = OwnLine & {
  amountMinor: number;
  /** The amounts behind the line's own; undefined if that is just quantity times `unitPriceMinor`. */
  amounts?: LineAmounts | undefined;
};

export type Adjustments = Record<List, DocumentAdjustment[]>;

/** A document with its computed amounts; they include VAT where prices do, until `withoutVat` takes it out. */
export interface Priced extends Composition {
  lines: PricedLine[];
  adjustments: Adjustments;
  /** The VAT breakdown, with the sums of each VAT category and rate; they keep any VAT that prices include. */
  breakdown: Invoice['vatBreakdown'];
}

type Category = Pick<VatLine, 'vatCategory' | 'vatRateBasisPoints'>;

/**
 * Returns a line with its amount, computed from its own price, discounts and charges.
 * @throws Refusal for two prices or none, an invalid discount or charge, and an amount beyond 2^53 - 1.
 */
export function pricedLine(
  line: OwnLine,
  { currency, includesVat }: Pick<Composition, 'currency' | 'includesVat'>,
  path: string,
): PricedLine {
  const { unitPriceMinor, unitPrice, priceBaseQuantity, quantity, allowances = [], charges = [] } = line;
  refuseBadPrice(line, path);
  const wholeMinor = withinRange(path, () =>
    lineAmountMinor(quantity, { currency, unitPriceMinor, unitPrice, priceBaseQuantity }),
  );
  const whole = { minor: wholeMinor, isBelowZero: wholeMinor < 0 };
  const worked = (list: List, given: readonly GivenAdjustment[]) =>
    given.map((one, index) => adjustmentOf(list, one, whole, `${path}/${list}/${index}`));
  const own = { allowances: worked('allowances', allowances), charges: worked('charges', charges) };
  const amountMinor = withinRange(path, () => sumMinor([wholeMinor, ...minorsOf(signed(own))]));
  withinRange(path, () => refuseBeyondZero(wholeMinor, own, path));
  const given = givenOf(line);
  const isPlain = !includesVat && Object.keys(given).length === 1 && unitPriceMinor !== undefined;
  return { ...line, amountMinor, amounts: isPlain ? undefined : { given, ...exactPrice(given), ...own } };
}

/** Refuses discounts that exceed a line's amount with its charges, which may itself be below zero. */
function refuseBeyondZero(wholeMinor: number, own: Pick<LineAmounts, List>, path: string): void {
  const isBelowZero = wholeMinor < 0;
  // Only charges with the line's own sign enlarge its amount.
  const alike = minorsOf(own.charges).filter((minor) => minor < 0 === isBelowZero);
  const mostMinor = sumMinor([wholeMinor, ...alike]);
  const takenMinor = sumMinor(minorsOf(own.allowances));
  if (isBelowZero ? takenMinor >= mostMinor : takenMinor <= mostMinor) return;
  const message = `The discounts of ${path} take more than the ${mostMinor} that the line comes to.`;
  throw new Refusal('invalid_change', message, `${path}/allowances`);
}

/** Returns the non-empty members of a line that determine its price and amount. */
export function givenOf(line: GivenLineAmounts): GivenLineAmounts {
  return pickDefined(line, ['unitPriceMinor', 'unitPrice', 'priceBaseQuantity', 'allowances', 'charges']);
}

/** Returns the members of a line that give its exact price and the number of units that cost it. */
export function exactPrice(line: GivenLineAmounts) {
  return pickDefined(line, ['unitPrice', 'priceBaseQuantity']);
}

function refuseBadPrice({ unitPriceMinor, unitPrice }: DraftLine, path: string): void {
  if (unitPriceMinor === undefined && unitPrice === undefined)
    throw new Refusal('invalid_change', `${path} has no unitPriceMinor.`, `${path}/unitPriceMinor`);
  if (unitPriceMinor === undefined || unitPrice === undefined) return;
  const message = `${path} has unitPriceMinor ${unitPriceMinor} and unitPrice ${unitPrice}; it has one of them.`;
  throw new Refusal('invalid_change', message, `${path}/unitPrice`);
}

/**
 * Returns the discounts and charges of a whole document, computed from its draft.
 * @throws Refusal for an invalid one, one in a category that no line has, or one that exceeds its lines.
 */
export function documentAdjustments(
  { given: { allowances = [], charges = [] }, path }: Composition,
  lines: readonly PricedLine[],
): Adjustments {
  const worked = (list: List, all: NonNullable<NewInvoice['charges']>) =>
    all.map((given, index): DocumentAdjustment => {
      const { vatCategory, vatRateBasisPoints } = given;
      const at = `${path}/${list}/${index}`;
      const own = lines.filter((line) => isOfCategory(line, given));
      const isWithCharge = list === 'allowances' && charges.some((one) => isOfCategory(one, given));
      const standsAlone = own.length === 0 && !isWithCharge;
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
  const adjustments = { allowances: worked('allowances', allowances), charges: worked('charges', charges) };
  refuseExcessiveAllowances(adjustments, lines, path);
  return adjustments;
}

/** The VAT categories in which a charge needs no line. The others depend on what is sold to whom. */
const STANDING_ALONE = ['S', 'Z', 'E'];

const EXEMPTION = ['vatExemptionReason', 'vatExemptionReasonCode'] as const;

/** Returns a charge's VAT exemption reason, which is needed if no line gives one (BR-E-10); empty if not needed. */
function exemptionOf(
  given: NonNullable<NewInvoice['charges']>[number],
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
  return pickDefined({ ...given, ...(vatExemptionReason && { vatExemptionReason }) }, EXEMPTION);
}

function refuseExcessiveAllowances(
  { allowances, charges }: Adjustments,
  lines: readonly PricedLine[],
  path: string,
): void {
  for (const [index, allowance] of allowances.entries()) {
    const own = lines.filter((line) => isOfCategory(line, allowance));
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

/** Returns all charges, then all discounts as negative amounts. */
function signed<One extends { amountMinor: number }>({ allowances, charges }: Record<List, One[]>): One[] {
  return [...charges, ...allowances.map((one) => ({ ...one, amountMinor: -one.amountMinor }))];
}

/** Returns the amounts that a VAT breakdown sums up: lines, charges, and discounts as negative amounts. */
export function vatLinesOf(
  lines: readonly (Category & { amountMinor: number })[],
  adjustments: Adjustments,
): VatLine[] {
  return [...lines, ...signed(adjustments)];
}

/** Returns a document with VAT removed from lines, discounts and charges: those of a VAT item add up to `taxableMinor`. */
export function withoutVat(priced: Priced, charged: Invoice['vatBreakdown']): Priced {
  if (!priced.includesVat) return priced;
  const { lines } = priced;
  const { allowances, charges } = priced.adjustments;
  const nets = new Map<object, number>();
  const taken = new Set<object>(allowances);
  for (const { category, rateBasisPoints, taxableMinor } of charged) {
    const item = { vatCategory: category, vatRateBasisPoints: rateBasisPoints };
    const parts = [...lines, ...charges, ...allowances].filter((one) => isOfCategory(one, item));
    const signed = parts.map((part) => (taken.has(part) ? -part.amountMinor : part.amountMinor));
    const shares = netShares(signed, taxableMinor, chargedRate(item));
    for (const [index, part] of parts.entries()) nets.set(part, shares[index] ?? 0);
  }
  const netOf = (one: DocumentAdjustment) => {
    return { ...one, amountMinor: Math.abs(nets.get(one) ?? 0), grossMinor: one.amountMinor };
  };
  return {
    ...priced,
    lines: lines.map((line) => netLine(line, nets.get(line) ?? 0)),
    adjustments: { allowances: allowances.map(netOf), charges: charges.map(netOf) },
  };
}

const chargedRate = ({ vatCategory, vatRateBasisPoints }: Category) =>
  vatCategory === 'S' ? vatRateBasisPoints : 0;

function netLine(line: PricedLine, amountMinor: number): PricedLine {
  const { amountMinor: grossMinor, amounts } = line;
  const net = (list: readonly Adjustment[]) =>
    list.map((one) => {
      const ownMinor = one.amountMinor - vatWithinMinor(one.amountMinor, chargedRate(line));
      return { ...one, amountMinor: ownMinor, grossMinor: one.amountMinor };
    });
  const { allowances = [], charges = [] } = amounts ?? {};
  const worked = amounts && { ...amounts, grossMinor, allowances: net(allowances), charges: net(charges) };
  return { ...line, amountMinor, amounts: worked };
}
