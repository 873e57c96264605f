import type { DocumentAmounts, GivenAmounts } from '../../contract/document-amounts.ts';
import type { DraftLine } from '../../contract/feed.ts';
import type { Invoice } from '../../contract/records.ts';
import {
  type CurrencyConversion,
  convertBreakdown,
  lineAmountMinor,
  totals,
  vatBreakdown,
  vatWithinMinor,
} from '../../contract/vat.ts';
import { amountsTaken, type Charged, chargedOn, refuseExcess } from './credit-notes.ts';
import { creditedAdjustments, creditedLines } from './credited-parts.ts';
import {
  type Composition,
  documentAdjustments,
  type Priced,
  type PricedLine,
  pricedLine,
  vatLinesOf,
  withoutVat,
} from './document-amounts.ts';
import { lineTermsOf } from './document-terms.ts';
import { asksForReverseCharge, legendOf, type LegendTerms } from './legends.ts';
import type { Move } from './move.ts';
import { refuseTwins, withinRange } from './refusal.ts';
import type { QuoteUnpublished, Stored, Unpublished } from './unpublished.ts';

type Line = Invoice['lines'][number];

const DEFAULT_UNIT_CODE = 'C62';

/**
 * Returns a new document with its lines, and gives an id to each line without one.
 * @throws Refusal for a job that the company doesn't have, or a line id used twice.
 */
export async function startComposition(
  move: Move,
  { lines = [], pricesIncludeVat = false, allowances, charges }: { lines?: DraftLine[] } & GivenAmounts,
  known: Omit<Composition, 'lines' | 'includesVat' | 'given'>,
): Promise<Composition> {
  await refuseBadReferences(move, lines, `${known.path}/lines`);
  return {
    ...known,
    lines: lines.map((line) => ({ ...line, id: line.id ?? move.mintId('lin_') })),
    includesVat: pricesIncludeVat,
    given: { ...(allowances && { allowances }), ...(charges && { charges }) },
  };
}

async function refuseBadReferences(move: Move, lines: readonly DraftLine[], path: string): Promise<void> {
  refuseTwins('lines', lines, path);
  const jobIds = new Set<string>();
  for (const [index, { jobId }] of lines.entries()) {
    // Lines usually share one job, so each job is looked up once.
    if (typeof jobId !== 'string' || jobIds.has(jobId)) continue;
    await move.mustHave('jobs', jobId, `${path}/${index}/jobId`);
    jobIds.add(jobId);
  }
}

/** Returns a document with all amounts computed. @throws Refusal for invalid ones; RangeError for sums beyond 2^53 - 1. */
export function computeAmounts(composition: Composition): Priced {
  const { credited, given, path } = composition;
  const asPart = credited && creditedLines(credited);
  const lines = composition.lines.map(
    (line, index) => asPart?.(line) ?? pricedLine(line, composition, `${path}/lines/${index}`),
  );
  const isInherited = credited && given.allowances === undefined && given.charges === undefined;
  const adjustments = isInherited
    ? creditedAdjustments(lines, credited)
    : documentAdjustments(composition, lines);
  return { ...composition, lines, adjustments, breakdown: vatBreakdown(vatLinesOf(lines, adjustments)) };
}

/** A document whose lines, discounts and charges exclude VAT, with its totals. */
export interface Summed extends Priced, Charged {
  shown: Pick<Invoice, 'lines' | 'vatBreakdown' | 'totals'>;
}

/**
 * Returns a document with its lines, breakdown and totals, computed from its draft.
 * @throws Refusal for invalid discounts and charges, credit beyond what remains of the invoice, and amounts beyond 2^53 - 1.
 */
export async function computeTotals(
  move: Move,
  composition: Composition,
  buyerCountry: string,
): Promise<Summed> {
  const legends = await legendTermsOf(move, composition, composition.credited !== undefined, buyerCountry);
  const at = `${composition.path}/lines`;
  const whole = withinRange(at, () => computeAmounts(composition));
  refuseExcess(whole, whole.breakdown);
  return withinRange(at, () => {
    const charged = chargedBy(whole);
    const net = withoutVat(whole, charged.vatBreakdown);
    const lines = net.lines.map((line, index) => {
      return lineOf(net, { ...line, vatExemptionReason: reasonOf(line, legends, net.lines) }, index);
    });
    const { vatBreakdown: shown } = charged;
    return { ...net, ...charged, shown: { lines, vatBreakdown: shown, totals: totals(shown) } };
  });
}

function chargedBy(whole: Priced): Charged {
  const { credited, conversion, includesVat, breakdown } = whole;
  if (credited) return amountsTaken(credited, whole, breakdown);
  const charged = breakdown.map((item) => chargedOn(item, includesVat));
  return { vatBreakdown: charged, accounted: conversion ? convertBreakdown(charged, conversion) : [] };
}

/** Returns the price of one unit without VAT, rounded to minor units. */
function unitPriceMinorOf({ currency, includesVat }: Priced, line: PricedLine): number {
  const { unitPriceMinor, unitPrice, priceBaseQuantity, vatCategory, vatRateBasisPoints } = line;
  const priceMinor = lineAmountMinor('1', { currency, unitPriceMinor, unitPrice, priceBaseQuantity });
  const isWithVat = includesVat && vatCategory === 'S';
  return isWithVat ? priceMinor - vatWithinMinor(priceMinor, vatRateBasisPoints) : priceMinor;
}

/** Returns those amounts of a document for which the API has no member. */
export function documentAmounts({ includesVat, given, lines, adjustments }: Priced): DocumentAmounts {
  return {
    given: { ...(includesVat ? { pricesIncludeVat: true } : {}), ...given },
    lines: Object.fromEntries(lines.flatMap(({ id, amounts }) => (amounts ? [[id, amounts]] : []))),
    ...adjustments,
    prepayments: [],
    roundingMinor: 0,
  };
}

/** Returns amounts in the form in which they are stored: empty if there is nothing to store. */
export function keptAmounts(amounts: DocumentAmounts): Pick<Unpublished, 'amounts'> {
  const { given, lines, allowances, charges, roundingMinor } = amounts;
  const isPlain = [given, lines, allowances, charges].every((members) => Object.keys(members).length === 0);
  return isPlain && roundingMinor === 0 ? {} : { amounts };
}

/** Returns a line in the form in which the document shows it. @throws RangeError for a price beyond 2^53 - 1. */
export function lineOf(priced: Priced, line: PricedLine, index: number): Line {
  // Members are in the contract's order.
  return {
    id: line.id,
    position: index + 1,
    description: line.description,
    quantity: line.quantity,
    unitCode: line.unitCode ?? DEFAULT_UNIT_CODE,
    unitPriceMinor: unitPriceMinorOf(priced, line),
    amountMinor: line.amountMinor,
    vatCategory: line.vatCategory,
    vatRateBasisPoints: line.vatRateBasisPoints,
    vatExemptionReason: line.vatExemptionReason ?? null,
    jobId: line.jobId ?? null,
  };
}

/** Returns the VAT rates that reverse-charge lines state, by line id, in basis points. */
export function reverseChargeRatesOf({ lines }: Composition): Record<string, number> {
  return Object.fromEntries(
    lines.flatMap(({ id, vatCategory, reverseChargeRateBasisPoints: rate }) =>
      vatCategory === 'AE' && rate !== undefined ? [[id, rate]] : [],
    ),
  );
}

/** Returns what is stored about a quote's lines and amounts beside the members of the API. */
export function quoteUnpublishedOf(priced: Priced): QuoteUnpublished {
  const terms = lineTermsOf(priced);
  return {
    reverseChargeRates: reverseChargeRatesOf(priced),
    ...keptAmounts(documentAmounts(priced)),
    ...(terms.lines ? { terms } : {}),
  };
}

/** Returns a stored document's lines as a draft would give them. */
export function asDraft(
  lines: readonly Line[],
  { reverseChargeRates = {}, amounts, terms }: Partial<QuoteUnpublished> = {},
): DraftLine[] {
  return lines.map(({ position: _position, amountMinor: _amount, unitPriceMinor, vatCategory, ...line }) => ({
    ...line,
    ...terms?.lines?.[line.id],
    ...(amounts?.lines[line.id]?.given ?? { unitPriceMinor }),
    // Only the feed's VAT categories are ever stored.
    vatCategory: vatCategory as DraftLine['vatCategory'],
    ...(reverseChargeRates[line.id] === undefined
      ? {}
      : { reverseChargeRateBasisPoints: reverseChargeRates[line.id] }),
  }));
}

/** Returns the facts that the legal wording on a document's lines depends on. */
async function legendTermsOf(
  move: Move,
  { currency, conversion }: Pick<Composition, 'currency' | 'conversion'>,
  isCreditNote: boolean,
  buyerCountry: string,
): Promise<LegendTerms> {
  const { countryCode: supplierCountry } = await move.supplier();
  return { supplierCountry, buyerCountry, currency, isCreditNote, conversion };
}

/**
 * Returns a line's VAT exemption reason, its own or else the legal wording; null if the draft must give it. A credit note
 * drops its invoice's wording that asks the customer to pay the VAT.
 */
function reasonOf(line: PricedLine, terms: LegendTerms, lines: readonly PricedLine[]): string | null {
  const given = line.vatExemptionReason ?? null;
  const isMeant = given !== null && !asksForReverseCharge(line, terms);
  return isMeant ? given : legendOf(line, terms, lines);
}

/**
 * Returns a stored document's lines as a draft would give them, without the legal wording that was filled in automatically:
 * it is filled in again for the new amounts.
 */
export async function draftLinesOf(
  move: Move,
  { record, unpublished }: Stored<'invoices' | 'quotes'>,
  conversion: CurrencyConversion | null,
): Promise<DraftLine[]> {
  const { currency, buyer, lines } = record;
  const isCreditNote = 'kind' in record && record.kind === 'credit_note';
  const terms = await legendTermsOf(move, { currency, conversion }, isCreditNote, buyer.countryCode);
  const drafted = asDraft(lines, unpublished);
  const stated = drafted.map((line, index) => ({ ...line, amountMinor: lines[index]?.amountMinor ?? 0 }));
  return drafted.map((line) =>
    line.vatExemptionReason === legendOf(line, terms, stated) ? { ...line, vatExemptionReason: null } : line,
  );
}
