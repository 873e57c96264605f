import type { DocumentAmounts } from '../../contract/document-amounts.ts';
import type { DraftLine } from '../../contract/feed.ts';
import type { Invoice } from '../../contract/records.ts';
import {
  type Conversion,
  convertBreakdown,
  lineAmountMinor,
  totals,
  vatBreakdown,
  vatWithinMinor,
} from '../../contract/vat.ts';
import { amountsTaken, chargedOn, type Credited, refuseExcess, refuseOtherPrices } from './credit-notes.ts';
import { creditedAdjustments, creditedLines } from './credited-parts.ts';
import {
  type Adjustments,
  type AmountsDraft,
  documentAdjustments,
  type PricedLine,
  pricedLine,
  vatLinesOf,
  withoutVat,
} from './document-amounts.ts';
import { asksForReverseCharge, legendOf, type LegendTerms, type StatedLine } from './legends.ts';
import type { Move } from './move.ts';
import { refuseTwins, withinRange } from './refusal.ts';
import type { QuoteUnpublished } from './unpublished.ts';

type Line = Invoice['lines'][number];

/** The lines of a document, with their breakdown and totals, in the accounting currency too where there is one. */
export type Sums = Pick<Invoice, 'lines' | 'vatBreakdown' | 'totals'> & {
  accounted: Invoice['vatBreakdown'];
};

/** Why a line has no VAT: what its draft says, or else the words of the law; null where the draft has to say it. */
type ReasonOf = (line: DraftLine, lines: readonly StatedLine[]) => string | null;

const DEFAULT_UNIT_CODE = 'C62';

/**
 * Computes a document's lines, breakdown and totals. `path` is where its draft is within the change.
 * @param terms.credited the invoice that a credit note corrects; `conversion` leads to the accounting currency.
 * @returns them, and the amounts that the API has no place for, where the document has such.
 * @throws Refusal for a job the company doesn't have, an id used twice, bad discounts and charges, more than is left of a
 *   credited invoice, and amounts beyond 2^53 - 1.
 */
export async function sumsOf(
  move: Move,
  draft: AmountsDraft,
  reasonOf: ReasonOf,
  path: string,
  { credited, conversion = null }: { credited?: Credited | undefined; conversion?: Conversion | null } = {},
): Promise<{ sums: Sums; amounts: DocumentAmounts | undefined }> {
  const { pricesIncludeVat: includesVat = false, lines: given = [] } = draft;
  const at = `${path}/lines`;
  if (credited) refuseOtherPrices(credited, includesVat, path);
  await refuseBadReferences(move, given, at);
  const asPart = credited && creditedLines(credited);
  const priced = given.map((line, index) => asPart?.(line) ?? pricedLine(line, draft, `${at}/${index}`));
  const adjustments = adjustmentsOf(draft, priced, path, credited);
  const breakdown = withinRange(at, () =>
    vatBreakdown(
      vatLinesOf(
        priced.map(({ line, amountMinor }) => ({ ...line, amountMinor })),
        adjustments,
      ),
    ),
  );
  if (credited) refuseExcess(credited, { vatBreakdown: breakdown }, path, includesVat);
  return withinRange(at, () => {
    const charged = breakdown.map((item) => chargedOn(item, includesVat));
    const taken = credited
      ? amountsTaken(credited, breakdown, conversion, includesVat)
      : { vatBreakdown: charged, accounted: conversion ? convertBreakdown(charged, conversion) : [] };
    const net = includesVat
      ? withoutVat(priced, adjustments, taken.vatBreakdown)
      : { lines: priced, adjustments };
    const stated = net.lines.map(({ line, amountMinor }) => ({ ...line, amountMinor }));
    const lines = net.lines.map((own, index) =>
      lineOf(move, own.line, {
        position: index + 1,
        unitPriceMinor: unitPriceMinorOf(own, draft),
        amountMinor: own.amountMinor,
        vatExemptionReason: reasonOf(own.line, stated),
      }),
    );
    const sums = { lines, ...taken, totals: totals(taken.vatBreakdown) };
    return { sums, amounts: documentAmounts(draft, lines, net) };
  });
}

function adjustmentsOf(
  draft: AmountsDraft,
  priced: readonly PricedLine[],
  path: string,
  credited: Credited | undefined,
): Adjustments {
  const isInherited = credited && draft.allowances === undefined && draft.charges === undefined;
  return isInherited ? creditedAdjustments(priced, credited) : documentAdjustments(draft, priced, path);
}

/** The price of one unit without VAT, rounded. */
export function unitPriceMinorOf({ line }: PricedLine, { currency, pricesIncludeVat }: AmountsDraft): number {
  const { unitPriceMinor, unitPrice, priceBaseQuantity, vatCategory, vatRateBasisPoints } = line;
  const priceMinor = lineAmountMinor('1', { currency, unitPriceMinor, unitPrice, priceBaseQuantity });
  const isWithVat = pricesIncludeVat === true && vatCategory === 'S';
  return isWithVat ? priceMinor - vatWithinMinor(priceMinor, vatRateBasisPoints) : priceMinor;
}

/** The amounts for which the API has no place; undefined where there are none. */
export function documentAmounts(
  { pricesIncludeVat, allowances, charges }: Omit<AmountsDraft, 'currency'>,
  lines: readonly Line[],
  net: { lines: readonly PricedLine[]; adjustments: Adjustments },
): DocumentAmounts | undefined {
  const given = {
    ...(pricesIncludeVat === true ? { pricesIncludeVat } : {}),
    ...(allowances === undefined ? {} : { allowances }),
    ...(charges === undefined ? {} : { charges }),
  };
  const ofLines = Object.fromEntries(
    lines.flatMap(({ id }, index) => {
      const own = net.lines[index]?.amounts;
      return own ? [[id, own]] : [];
    }),
  );
  const { allowances: taken, charges: added } = net.adjustments;
  const isPlain = [given, ofLines, taken, added].every((members) => Object.keys(members).length === 0);
  if (isPlain) return undefined;
  return { given, lines: ofLines, ...net.adjustments, prepayments: [], roundingMinor: 0 };
}

/** A line of a document, with an id if it has none. */
export function lineOf(
  move: Move,
  line: DraftLine,
  {
    position,
    unitPriceMinor,
    amountMinor,
    vatExemptionReason,
  }: Pick<Line, 'position' | 'unitPriceMinor' | 'amountMinor' | 'vatExemptionReason'>,
): Line {
  // In the order of the contract.
  return {
    id: line.id ?? move.mintId('lin_'),
    position,
    description: line.description,
    quantity: line.quantity,
    unitCode: line.unitCode ?? DEFAULT_UNIT_CODE,
    unitPriceMinor,
    amountMinor,
    vatCategory: line.vatCategory,
    vatRateBasisPoints: line.vatRateBasisPoints,
    vatExemptionReason,
    jobId: line.jobId ?? null,
  };
}

/** The rates that the lines of a draft state under reverse charge, by the ids of the document's lines. */
export function reverseChargeRatesOf(
  draft: readonly DraftLine[] = [],
  lines: readonly Line[],
): Record<string, number> {
  return Object.fromEntries(
    draft.flatMap(({ vatCategory, reverseChargeRateBasisPoints: rate }, index) => {
      const id = lines[index]?.id;
      return vatCategory === 'AE' && rate !== undefined && id !== undefined ? [[id, rate]] : [];
    }),
  );
}

/** The lines of a document as they could be drafted again. */
export function asDraft(
  lines: readonly Line[],
  { reverseChargeRates = {}, amounts, terms }: Partial<QuoteUnpublished> = {},
): DraftLine[] {
  return lines.map(({ position: _position, amountMinor: _amount, unitPriceMinor, vatCategory, ...line }) => ({
    ...line,
    ...terms?.lines?.[line.id],
    ...(amounts?.lines[line.id]?.given ?? { unitPriceMinor }),
    // Lines are stored with the categories of the feed alone.
    vatCategory: vatCategory as DraftLine['vatCategory'],
    ...(reverseChargeRates[line.id] === undefined
      ? {}
      : { reverseChargeRateBasisPoints: reverseChargeRates[line.id] }),
  }));
}

/** The words on a document's lines depend on these. A quote has neither exchange nor a kind. */
export async function legendTermsOf(
  move: Move,
  currency: string,
  buyerCountry: string,
  { isCreditNote = false, conversion = null }: Partial<LegendTerms> = {},
): Promise<LegendTerms> {
  const { countryCode: supplierCountry } = await move.supplier();
  return { supplierCountry, buyerCountry, currency, isCreditNote, conversion };
}

/**
 * Fills in the words that the law prescribes on these terms. A credit note takes its lines over from its invoice, but
 * not the words on them that ask for the VAT.
 */
export function legendsOf(terms: LegendTerms): ReasonOf {
  return (line, lines) => {
    const given = line.vatExemptionReason ?? null;
    const isMeant = given !== null && !asksForReverseCharge(line, terms);
    return isMeant ? given : legendOf(line, terms, lines);
  };
}

/** A draft without the words that were filled in, so that they are filled in anew for the amounts as they are then. */
export function asDraftWithoutLegends(
  lines: readonly Line[],
  unpublished: QuoteUnpublished,
  terms: LegendTerms,
): DraftLine[] {
  const drafted = asDraft(lines, unpublished);
  const stated = drafted.map((line, index) => ({ ...line, amountMinor: lines[index]?.amountMinor ?? 0 }));
  return drafted.map((line) =>
    line.vatExemptionReason === legendOf(line, terms, stated) ? { ...line, vatExemptionReason: null } : line,
  );
}

/** @throws Refusal for a job the company doesn't have, and an id used twice. */
export async function refuseBadReferences(
  move: Move,
  draft: readonly DraftLine[],
  path: string,
): Promise<void> {
  refuseTwins('lines', draft, path);
  const jobIds = new Set<string>();
  for (const [index, { jobId }] of draft.entries()) {
    // Most documents have one job.
    if (typeof jobId !== 'string' || jobIds.has(jobId)) continue;
    await move.mustHave('jobs', jobId, `${path}/${index}/jobId`);
    jobIds.add(jobId);
  }
}
