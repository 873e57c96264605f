/** Lines, discounts and charges of a credit note, computed as shares of those of its invoice. */
import { isDeepStrictEqual } from 'node:util';

import type {
  Adjustment,
  DocumentAdjustment,
  GivenLineAmounts,
  LineAmounts,
} from '../../contract/document-amounts.ts';
import type { Invoice } from '../../contract/records.ts';
import { omit } from '../../contract/document-terms.ts';
import { millionths, proportionMinor, splitMinor, sumMinor } from '../../contract/exact.ts';
import { vatMinor } from '../../contract/vat.ts';
import { type CreditedInvoice, hasPricesWithVat, isWithinRemainder } from './credit-notes.ts';
import {
  type Adjustments,
  exactPrice,
  givenOf,
  isOfCategory,
  type OwnLine,
  type PricedLine,
} from './document-amounts.ts';

type Line = Invoice['lines'][number];

/** An amount without VAT and, where prices include VAT, also with it. */
type Priced = Pick<Line, 'amountMinor' | 'vatRateBasisPoints'> & { grossMinor?: number | undefined };

/** The part of an invoice line credited so far; the amount includes VAT where prices do. */
interface Taken {
  quantityMillionths: bigint;
  amountMinor: number;
}

/**
 * Returns a function that computes a credit note's lines, in order, as all or part of an invoice's lines. All parts of a line
 * add up to exactly its amount, however each is rounded. The function returns undefined for a line that must be computed by
 * itself.
 */
export function creditedLines(credited: CreditedInvoice): (line: OwnLine) => PricedLine | undefined {
  const taken = takenBefore(credited);
  return (line) => {
    const quantity = millionths(line.quantity);
    const [origin] = linesLike(line, credited).filter((other) => {
      const upTo = quantity + (taken.get(other.id) ?? NOTHING).quantityMillionths;
      return upTo !== 0n && isWithinRemainder(upTo, millionths(other.quantity));
    });
    if (!origin) return undefined;
    const before = taken.get(origin.id) ?? NOTHING;
    const part = partOf(line, origin, credited.unpublished.amounts?.lines[origin.id], before);
    taken.set(origin.id, withTaken(before, line.quantity, part.amountMinor));
    return part;
  };
}

type Alike = Pick<OwnLine, 'id' | 'description' | 'quantity'> &
  Pick<Line, 'vatCategory' | 'vatRateBasisPoints'> &
  GivenLineAmounts;

/** Returns the invoice's lines that a credit note's line may credit, best match first; empty if none match. */
function linesLike(line: Alike, credited: CreditedInvoice): Line[] {
  const likeness = (other: Line) =>
    4 * Number(other.id === line.id) +
    2 * Number(other.description === line.description) +
    Number(other.quantity === line.quantity);
  return credited.record.lines
    .filter((other) => isLike(line, other, credited))
    .sort((a, b) => likeness(b) - likeness(a));
}

/** Whether a line matches an invoice line in all given members, or in price: as the API shows it, or with VAT as given. */
function isLike(line: Alike, other: Line, credited: CreditedInvoice): boolean {
  if (!isOfCategory(other, line)) return false;
  const given = givenOf(line);
  const its = credited.unpublished.amounts?.lines[other.id]?.given;
  const price =
    its && hasPricesWithVat(credited)
      ? omit(its, ['allowances', 'charges'])
      : { unitPriceMinor: other.unitPriceMinor };
  return isDeepStrictEqual(given, its) || isDeepStrictEqual(given, price);
}

const NOTHING: Taken = { quantityMillionths: 0n, amountMinor: 0 };

const withTaken = (before = NOTHING, quantity: string, amountMinor: number): Taken => ({
  quantityMillionths: before.quantityMillionths + millionths(quantity),
  amountMinor: sumMinor([before.amountMinor, amountMinor]),
});

/** Returns the parts that earlier notes credited, by invoice line; lines of imported notes count for their best match. */
function takenBefore(credited: CreditedInvoice): Map<string, Taken> {
  const taken = new Map<string, Taken>();
  for (const { record, unpublished } of credited.notes)
    for (const line of record.lines) {
      const { creditsLineId, given, grossMinor } = unpublished.amounts?.lines[line.id] ?? {};
      const { unitPriceMinor, ...others } = line;
      const asGiven = { ...others, ...(given ?? { unitPriceMinor }) };
      const id = creditsLineId ?? linesLike(asGiven, credited)[0]?.id;
      if (id !== undefined)
        taken.set(id, withTaken(taken.get(id), line.quantity, grossMinor ?? line.amountMinor));
    }
  return taken;
}

function partOf(line: OwnLine, origin: Line, amounts: LineAmounts | undefined, taken: Taken): PricedLine {
  const [quantity, whole] = [millionths(line.quantity), millionths(origin.quantity)];
  const originMinor = amounts?.grossMinor ?? origin.amountMinor;
  const upToMinor = proportionMinor(originMinor, taken.quantityMillionths + quantity, whole);
  const part = (list: readonly Adjustment[] = []) =>
    list.map(({ grossMinor, ...one }) => {
      const ofWholeMinor = grossMinor ?? one.amountMinor;
      return partOfAdjustment(one, ofWholeMinor, proportionMinor(ofWholeMinor, quantity, whole));
    });
  return {
    ...line,
    amountMinor: upToMinor - taken.amountMinor,
    amounts: {
      given: givenOf(line),
      ...exactPrice(amounts ?? {}),
      allowances: part(amounts?.allowances),
      charges: part(amounts?.charges),
      creditsLineId: origin.id,
    },
  };
}

/** Returns a discount or charge reduced from `wholeMinor` to `amountMinor`. Only the whole of it keeps its percentage and base. */
function partOfAdjustment<One extends Adjustment>(one: One, wholeMinor: number, amountMinor: number): One {
  const { percent, baseMinor, ...others } = one;
  const isWhole = amountMinor === wholeMinor && percent !== undefined && baseMinor !== undefined;
  return { ...(others as One), amountMinor, ...(isWhole ? { percent, baseMinor } : {}) };
}

/** Returns the invoice's document-level discounts and charges, whole or in proportion to the credited lines. */
export function creditedAdjustments(lines: readonly PricedLine[], credited: CreditedInvoice): Adjustments {
  // Without this, a draft that has no lines yet would credit the discounts and charges of zero-value lines.
  if (lines.length === 0) return { allowances: [], charges: [] };
  const own = (list: keyof Adjustments) => creditedOf(list, lines, credited);
  return { allowances: own('allowances'), charges: own('charges') };
}

function creditedOf(
  list: keyof Adjustments,
  lines: readonly PricedLine[],
  credited: CreditedInvoice,
): DocumentAdjustment[] {
  const { record, unpublished, notes } = credited;
  const { amounts } = unpublished;
  // The prices of an imported note may include VAT where those of its invoice don't, or the reverse.
  const minorOf = ({ amountMinor, vatRateBasisPoints, grossMinor }: Priced) =>
    hasPricesWithVat(credited)
      ? (grossMinor ?? amountMinor + vatMinor(amountMinor, vatRateBasisPoints))
      : amountMinor;
  const all = amounts?.[list] ?? [];
  const items = Map.groupBy(
    all,
    ({ vatCategory, vatRateBasisPoints }) => `${vatCategory} ${vatRateBasisPoints}`,
  );
  return [...items.values()].flatMap((ofItem) => {
    const [like] = ofItem;
    const isOwn = (one: Pick<Line, 'vatCategory' | 'vatRateBasisPoints'>) => !like || isOfCategory(one, like);
    // A charge in a category that no line has is credited in proportion to all lines.
    const isCounted = record.lines.some(isOwn) ? isOwn : () => true;
    const sumIn = (document: Pick<Invoice, 'lines'>, own = amounts) =>
      sumMinor(
        document.lines
          .filter(isCounted)
          .map((line) => minorOf({ ...line, grossMinor: own?.lines[line.id]?.grossMinor })),
      );
    const wholeMinor = sumIn(record);
    const earlierMinor = sumMinor(notes.map((note) => sumIn(note.record, note.unpublished.amounts)));
    const nowMinor = sumMinor(lines.filter(isCounted).map(({ amountMinor }) => amountMinor));
    const totalMinor = sumMinor(ofItem.map(minorOf));
    const takenMinor = sumMinor(
      notes.flatMap(({ unpublished }) => (unpublished.amounts?.[list] ?? []).filter(isOwn).map(minorOf)),
    );
    const upToMinor = shareOf(totalMinor, earlierMinor + nowMinor, wholeMinor);
    const minor = Math.max(0, Math.min(upToMinor, totalMinor) - takenMinor);
    if (minor === 0) return [];
    const parts = splitMinor(minor, ofItem.map(minorOf));
    return ofItem.map(({ grossMinor: _gross, ...one }, index) =>
      partOfAdjustment(one, minorOf(ofItem[index] ?? one), parts[index] ?? 0),
    );
  });
}

function shareOf(totalMinor: number, partMinor: number, wholeMinor: number): number {
  if (partMinor === wholeMinor) return totalMinor;
  if (wholeMinor <= 0) return 0;
  return Math.max(0, proportionMinor(totalMinor, BigInt(partMinor), BigInt(wholeMinor)));
}
