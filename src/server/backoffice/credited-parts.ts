/** The members that a credit note takes over from its invoice: the parts of lines, discounts and charges that it gives back. */
import { isDeepStrictEqual } from 'node:util';

import type { Adjustment, DocumentAdjustment, LineAmounts } from '../../contract/document-amounts.ts';
import type { DraftLine } from '../../contract/feed.ts';
import type { Invoice } from '../../contract/records.ts';
import { without } from '../../contract/document-terms.ts';
import { millionths, proportionMinor, splitMinor, sumMinor } from '../../contract/exact.ts';
import { vatMinor } from '../../contract/vat.ts';
import { type Credited, hasPricesWithVat } from './credit-notes.ts';
import { type Adjustments, exactPrice, givenOf, isOfCategory, type PricedLine } from './document-amounts.ts';

type Line = Invoice['lines'][number];

/** An amount without VAT, and with it where it was given so. */
type Priced = Pick<Line, 'amountMinor' | 'vatRateBasisPoints'> & { grossMinor?: number | undefined };

/** A line that was credited before, or earlier in the same note. */
interface Taken {
  creditsLineId: string | undefined;
  quantity: string;
  amountMinor: number;
}

/**
 * A line of a credit note that takes back one of its invoice as a whole, or a part of one with discounts, charges or an
 * exact price. All parts together give back exactly what the line came to, however each is rounded. Undefined for a line
 * that is worked out by itself.
 * @param before the lines of the note above it.
 */
export function creditedLine(
  line: DraftLine,
  credited: Credited,
  before: readonly PricedLine[],
): PricedLine | undefined {
  const candidates = credited.record.lines.filter((other) => isLike(line, other, credited));
  const same = candidates.find(({ quantity }) => quantity === line.quantity);
  const details = (other: Line | undefined) => other && credited.amounts?.lines[other.id];
  const likeness = (other: Line) =>
    2 * Number(other.id === line.id) + Number(other.description === line.description);
  const origin = candidates
    .filter((other) => details(other) !== undefined)
    .sort((a, b) => likeness(b) - likeness(a))
    .find((other) => isLeft(other, line, takenOf(other, credited, before)));
  const amounts = details(origin);
  // The line has nothing but its price, which another one without more may have too.
  const isOther =
    same !== undefined && details(same) === undefined && likeness(same) >= likeness(origin ?? same);
  if (origin && amounts && !isOther) return partOf(line, origin, amounts, takenOf(origin, credited, before));
  return same && !details(same) ? { line, amountMinor: same.amountMinor } : undefined;
}

/** Whether a line has all that one of the invoice's gave, or its price alone: as the API shows it, or with VAT as it was given. */
function isLike(line: DraftLine, other: Line, credited: Credited): boolean {
  if (!isOfCategory(other, line)) return false;
  const given = givenOf(line);
  const its = credited.amounts?.lines[other.id]?.given;
  const price =
    its && hasPricesWithVat(credited)
      ? without(its, ['allowances', 'charges'])
      : { unitPriceMinor: other.unitPriceMinor };
  return isDeepStrictEqual(given, its) || isDeepStrictEqual(given, price);
}

function isLeft(origin: Line, { quantity }: DraftLine, taken: readonly Taken[]): boolean {
  const whole = millionths(origin.quantity);
  const upTo = quantityOf([...taken, { quantity }]);
  return whole > 0n ? upTo > 0n && upTo <= whole : upTo < 0n && upTo >= whole;
}

const quantityOf = (list: readonly { quantity: string }[]) =>
  list.reduce((sum, { quantity }) => sum + millionths(quantity), 0n);

/** The amounts that earlier notes, and lines above in the same one, took of a line. */
function takenOf({ id }: Line, { notes }: Credited, before: readonly PricedLine[]): Taken[] {
  const earlier = notes.flatMap(({ record, unpublished: { amounts } }) =>
    record.lines.map((line) => {
      const { creditsLineId, grossMinor = line.amountMinor } = amounts?.lines[line.id] ?? {};
      return { creditsLineId, quantity: line.quantity, amountMinor: grossMinor };
    }),
  );
  const above = before.map(({ line: { quantity }, amountMinor, amounts }) => {
    return { creditsLineId: amounts?.creditsLineId, quantity, amountMinor };
  });
  return [...earlier, ...above].filter(({ creditsLineId }) => creditsLineId === id);
}

function partOf(line: DraftLine, origin: Line, amounts: LineAmounts, taken: readonly Taken[]): PricedLine {
  const whole = millionths(origin.quantity);
  const originMinor = amounts.grossMinor ?? origin.amountMinor;
  const upToMinor = proportionMinor(originMinor, quantityOf([...taken, line]), whole);
  const part = (list: readonly Adjustment[]) =>
    list.map(({ grossMinor, ...one }) => {
      const ofWholeMinor = grossMinor ?? one.amountMinor;
      return partOfAdjustment(
        one,
        ofWholeMinor,
        proportionMinor(ofWholeMinor, millionths(line.quantity), whole),
      );
    });
  return {
    line,
    amountMinor: upToMinor - sumMinor(taken.map(({ amountMinor }) => amountMinor)),
    amounts: {
      given: givenOf(line),
      ...exactPrice(amounts),
      allowances: part(amounts.allowances),
      charges: part(amounts.charges),
      creditsLineId: origin.id,
    },
  };
}

/** A part of a discount or charge. Only the whole of it is still the percentage of its base. */
function partOfAdjustment<One extends Adjustment>(one: One, wholeMinor: number, amountMinor: number): One {
  const { percent, baseMinor, ...others } = one;
  const isWhole = amountMinor === wholeMinor && percent !== undefined && baseMinor !== undefined;
  return { ...(others as One), amountMinor, ...(isWhole ? { percent, baseMinor } : {}) };
}

/**
 * The discounts and charges of the invoice as a whole, in the proportion of the lines that are credited: with all lines
 * credited, all of them are.
 */
export function creditedAdjustments(lines: readonly PricedLine[], credited: Credited): Adjustments {
  // Without this, a draft that has no lines yet would take those of lines that are worth nothing.
  if (lines.length === 0) return { allowances: [], charges: [] };
  const own = (list: keyof Adjustments) => creditedOf(list, lines, credited);
  return { allowances: own('allowances'), charges: own('charges') };
}

function creditedOf(
  list: keyof Adjustments,
  lines: readonly PricedLine[],
  credited: Credited,
): DocumentAdjustment[] {
  const { record, amounts, notes } = credited;
  // The prices of an imported note may be with VAT where those of its invoice aren't, or the other way round.
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
    // A charge in a category of its own goes with all lines.
    const isCounted = record.lines.some(isOwn) ? isOwn : () => true;
    const sumIn = (document: Pick<Invoice, 'lines'>, own = amounts) =>
      sumMinor(
        document.lines
          .filter(isCounted)
          .map((line) => minorOf({ ...line, grossMinor: own?.lines[line.id]?.grossMinor })),
      );
    const wholeMinor = sumIn(record);
    const earlierMinor = sumMinor(notes.map((note) => sumIn(note.record, note.unpublished.amounts)));
    const nowMinor = sumMinor(
      lines.filter(({ line }) => isCounted(line)).map(({ amountMinor }) => amountMinor),
    );
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
