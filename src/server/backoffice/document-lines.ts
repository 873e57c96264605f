import type { DraftLine } from '../../contract/feed.ts';
import type { Invoice } from '../../contract/records.ts';
import { asksForReverseCharge, legendOf, type LegendTerms } from './legends.ts';
import type { Move } from './move.ts';
import { Refusal, refuseTwins } from './refusal.ts';
import type { QuoteUnpublished } from './unpublished.ts';
import { lineAmountMinor, totals, vatBreakdown } from '../../contract/vat.ts';

type Line = Invoice['lines'][number];

/** The lines of a document, with their breakdown and totals. */
export type Sums = Pick<Invoice, 'lines' | 'vatBreakdown' | 'totals'>;

/** Why a line has no VAT: what its draft says, or else the words of the law; null where the draft has to say it. */
type ReasonOf = (line: DraftLine, lines: readonly DraftLine[]) => string | null;

const DEFAULT_UNIT_CODE = 'C62';

/**
 * Computes a document's lines, breakdown and totals. `path` is where the lines are within the change.
 * @param credited the lines of the invoice that a credit note corrects.
 * @throws Refusal for a job the company doesn't have, an id used twice, and amounts beyond 2^53 - 1.
 */
export async function sumsOf(
  move: Move,
  draft: readonly DraftLine[],
  reasonOf: ReasonOf,
  path: string,
  credited: readonly Line[] = [],
): Promise<Sums> {
  await refuseBadReferences(move, draft, path);
  const lines = draft.map((line, index) =>
    lineOf(move, line, {
      position: index + 1,
      amountMinor:
        credited.find((other) => isLike(line, other))?.amountMinor ??
        withinRange(`${path}/${index}`, () => lineAmountMinor(line.quantity, line.unitPriceMinor)),
      vatExemptionReason: withinRange(path, () => reasonOf(line, draft)),
    }),
  );
  const breakdown = withinRange(path, () => vatBreakdown(lines));
  return { lines, vatBreakdown: breakdown, totals: withinRange(path, () => totals(breakdown)) };
}

/** Whether a line of a credit note takes back one of its invoice, which may have come in with another rounding. */
function isLike(line: DraftLine, other: Line): boolean {
  const members = ['quantity', 'unitPriceMinor', 'vatCategory', 'vatRateBasisPoints'] as const;
  return members.every((member) => line[member] === other[member]);
}

/** A line of a document, with an id if it has none. */
export function lineOf(
  move: Move,
  line: DraftLine,
  {
    position,
    amountMinor,
    vatExemptionReason,
  }: Pick<Line, 'position' | 'amountMinor' | 'vatExemptionReason'>,
): Line {
  // In the order of the contract.
  return {
    id: line.id ?? move.mintId('lin_'),
    position,
    description: line.description,
    quantity: line.quantity,
    unitCode: line.unitCode ?? DEFAULT_UNIT_CODE,
    unitPriceMinor: line.unitPriceMinor,
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
  { reverseChargeRates = {}, terms }: Partial<QuoteUnpublished> = {},
): DraftLine[] {
  return lines.map(({ position: _position, amountMinor: _amount, vatCategory, ...line }) => ({
    ...line,
    ...terms?.lines?.[line.id],
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
    return isMeant ? given : legendOf(line.vatCategory, terms, lines);
  };
}

/** Takes out the words that were filled in, so that they are filled in anew for the amounts as they are then. */
export function withoutLegends(lines: readonly DraftLine[], terms: LegendTerms): DraftLine[] {
  return lines.map((line) =>
    line.vatExemptionReason === legendOf(line.vatCategory, terms, lines)
      ? { ...line, vatExemptionReason: null }
      : line,
  );
}

/** Runs arithmetic that throws a RangeError where a number can't hold an amount exactly. */
export function withinRange<T>(path: string, compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Refusal(
      'amount_out_of_range',
      `${path} is beyond what can be computed exactly: ${error.message}`,
      path,
    );
  }
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
