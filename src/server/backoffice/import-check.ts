import type { ChangeContent } from '../../contract/feed.ts';
import type { Invoice } from '../../contract/records.ts';
import { sumMinor } from '../../contract/exact.ts';
import { convertMinor, vatBreakdown } from '../../contract/vat.ts';
import {
  amountsTaken,
  type Charged,
  chargedOn,
  isLike,
  itemLike,
  type VatBreakdownItem as Item,
} from './credit-notes.ts';
import { type Composition, isOfCategory, type Priced, vatLinesOf, withoutVat } from './document-amounts.ts';
import { computeAmounts } from './document-lines.ts';
import { Refusal, withinRange } from './refusal.ts';

type Amounts = Pick<Invoice, 'vatBreakdown' | 'totals'>;
type Given = Pick<ChangeContent<'invoice.import'>, 'lines' | 'tolerate' | 'accountingCurrency'> & Amounts;

/**
 * Returns an imported document's lines, discounts and charges without VAT, computed from its prices.
 * @throws Refusal for invalid prices, discounts and charges, and `amount_out_of_range`.
 */
export function pricedImport(composition: Composition): Priced {
  return withinRange('/with', () => {
    // An imported note is computed without regard to its invoice.
    const whole = computeAmounts({ ...composition, credited: undefined });
    const charged = whole.breakdown.map((item) => chargedOn(item, whole.includesVat));
    return { ...withoutVat(whole, charged), credited: composition.credited };
  });
}

/** A stated amount that is wrong; `path` is its JSON Pointer within the change. */
interface Difference {
  path: string;
  problem: string;
}

/** The maximum number of wrong amounts that a refusal names. */
const NAMED_MAX = 20;

/**
 * Refuses an imported document with wrong amounts: lines, breakdown and totals, also in the accounting currency. A credit
 * note's VAT can instead be the remaining VAT of its invoice.
 * @returns the breakdowns in Fieldledger's own order.
 * @throws Refusal `wrong_sums` naming each difference, and `amount_out_of_range`.
 */
export function checkedAmounts(given: Given, worked: Priced): Charged {
  return withinRange('/with', () => {
    const { vatBreakdown: stated, accountingCurrency: own } = given;
    const expected = vatBreakdown(vatLinesOf(given.lines, worked.adjustments));
    const inOrder = (items: readonly Item[]) => expected.map((item) => itemLike(items, item));
    const amounts = { vatBreakdown: inOrder(stated), accounted: own ? inOrder(own.vatBreakdown) : [] };
    const unmatched = [
      ...itemDifferences(expected, stated, '/with/vatBreakdown'),
      ...(own ? itemDifferences(expected, own.vatBreakdown, '/with/accountingCurrency/vatBreakdown') : []),
    ];
    // While items are missing, further differences would only be consequences of that.
    const wrong = unmatched.length > 0 ? unmatched : amountDifferences(given, worked, expected, amounts);
    refuse([...lineDifferences(given, worked), ...wrong]);
    return amounts;
  });
}

/** Returns the differences between stated and expected amounts of the breakdown's items and the totals. */
function amountDifferences(
  given: Given,
  worked: Priced,
  expected: readonly Item[],
  { vatBreakdown: stated }: Charged,
): Difference[] {
  const { accountingCurrency: own } = given;
  const { conversion, credited, includesVat, breakdown } = worked;
  const taken = credited && amountsTaken(credited, worked, includesVat ? breakdown : stated);
  const left = (items: Item[] | undefined, item: Item, member: AmountOfItem): Expected[] =>
    items ? [{ minor: itemLike(items, item)[member], rule: 'what is left of its invoice' }] : [];
  const inCurrency = breakdownDifferences(given, given, '/with', (item) => ({
    taxableMinor: [{ minor: itemLike(expected, item).taxableMinor, rule: 'the sum of its lines' }],
    vatMinor: [vatIn(item, worked), ...left(taken?.vatBreakdown, item, 'vatMinor')],
  }));
  if (!own || !conversion) return inCurrency;
  const converted = (item: Item, member: AmountOfItem) => {
    const minor = itemLike(stated, item)[member];
    const rule = `${minor} at the rate ${conversion.exchangeRate}`;
    return [{ minor: convertMinor(minor, conversion), rule }, ...left(taken?.accounted, item, member)];
  };
  const inAccounts = breakdownDifferences(given, own, '/with/accountingCurrency', (item) => ({
    taxableMinor: converted(item, 'taxableMinor'),
    vatMinor: converted(item, 'vatMinor'),
  }));
  return [...inCurrency, ...inAccounts];
}

type AmountOfItem = 'taxableMinor' | 'vatMinor';

/** An acceptable value of an amount, in minor units, and the rule that it follows from. */
interface Expected {
  minor: number;
  rule: string;
}

function lineDifferences({ lines, tolerate }: Given, worked: Priced): Difference[] {
  return lines.flatMap(({ quantity, unitPriceMinor, unitPrice, amountMinor, ...line }, index) => {
    const price = unitPrice === undefined ? `unitPriceMinor ${unitPriceMinor}` : `unitPrice ${unitPrice}`;
    const base = line.priceBaseQuantity === undefined ? '' : ` for ${line.priceBaseQuantity}`;
    const isAdjusted = line.allowances !== undefined || line.charges !== undefined;
    const rule = [
      `quantity ${quantity} times ${price}${base}`,
      ...(isAdjusted ? ['with its discounts and charges'] : []),
      ...(worked.includesVat ? ['without VAT'] : []),
    ].join(' ');
    const expected = [{ minor: worked.lines[index]?.amountMinor ?? 0, rule }];
    // The business system may distribute the rounding of VAT differently.
    const slack = tolerate !== undefined || worked.includesVat ? 1 : 0;
    return difference(`/with/lines/${index}/amountMinor`, amountMinor, expected, slack);
  });
}

/** Returns the expected VAT of an item: the VAT on its net, or the VAT within its gross where prices include VAT. */
function vatIn(item: Item, { includesVat, breakdown }: Priced): Expected {
  const { taxableMinor } = includesVat ? itemLike(breakdown, item) : item;
  const { vatMinor: minor } = chargedOn({ ...item, taxableMinor }, includesVat);
  const at = `${taxableMinor} at ${item.rateBasisPoints} basis points`;
  return { minor, rule: `the VAT ${includesVat ? 'in' : 'on'} ${at}` };
}

/** Compares the stated items with those expected, one for each category and rate of the lines, and returns the differences. */
function itemDifferences(expected: readonly Item[], stated: readonly Item[], path: string): Difference[] {
  const wrong = stated.flatMap((item, index) => {
    const at = `${path}/${index}`;
    if (stated.findIndex((one) => isLike(one, item)) < index)
      return [{ path: at, problem: `is a second item of ${rateOf(item)}` }];
    if (expected.some((one) => isLike(one, item))) return [];
    return [{ path: at, problem: `is of ${rateOf(item)}, which no line has` }];
  });
  const missing = expected
    .filter((item) => !stated.some((one) => isLike(one, item)))
    .map((item) => ({ path, problem: `has no item of ${rateOf(item)}, which lines have` }));
  return [...wrong, ...missing];
}

function rateOf({ category, rateBasisPoints }: Item): string {
  return `category ${category} at ${rateBasisPoints} basis points`;
}

/** Returns the difference allowed in an item's amounts, in minor units: zero, or one for each of its lines. */
function slackOf({ lines, tolerate }: Given, { category, rateBasisPoints }: Item): number {
  if (tolerate === undefined) return 0;
  const item = { vatCategory: category, vatRateBasisPoints: rateBasisPoints };
  return lines.filter(
    (line) =>
      Number(line.quantity) * Number(line.unitPrice ?? line.unitPriceMinor) !== 0 && isOfCategory(line, item),
  ).length;
}

/** Whether rounding could explain an item's VAT: the item is taxed, and its VAT doesn't have the opposite sign. */
function mayBeRounded({ category, rateBasisPoints, taxableMinor, vatMinor }: Item): boolean {
  const isTaxed = category === 'S' && rateBasisPoints > 0 && taxableMinor !== 0;
  return isTaxed && (vatMinor === 0 || vatMinor > 0 === taxableMinor > 0);
}

/** Returns the amounts of a VAT breakdown that differ from the expected ones, and the totals that don't add up. */
function breakdownDifferences(
  given: Given,
  { vatBreakdown: items, totals }: Amounts,
  path: string,
  expectedOf: (item: Item) => Record<AmountOfItem, Expected[]>,
): Difference[] {
  const { netMinor, vatMinor, grossMinor } = totals;
  const sumOf = (member: AmountOfItem) => [
    { minor: sumMinor(items.map((item) => item[member])), rule: `the sum of ${member} in vatBreakdown` },
  ];
  const gross = { minor: sumMinor([netMinor, vatMinor]), rule: 'netMinor and vatMinor together' };
  return [
    ...items.flatMap((item, index) => {
      const expected = expectedOf(item);
      const slack = slackOf(given, item);
      const at = `${path}/vatBreakdown/${index}`;
      return [
        ...difference(`${at}/taxableMinor`, item.taxableMinor, expected.taxableMinor, slack),
        ...difference(`${at}/vatMinor`, item.vatMinor, expected.vatMinor, mayBeRounded(item) ? slack : 0),
      ];
    }),
    ...difference(`${path}/totals/netMinor`, netMinor, sumOf('taxableMinor')),
    ...difference(`${path}/totals/vatMinor`, vatMinor, sumOf('vatMinor')),
    ...difference(`${path}/totals/grossMinor`, grossMinor, [gross]),
  ];
}

function difference(path: string, minor: number, expected: readonly Expected[], slack = 0): Difference[] {
  if (expected.some((one) => Math.abs(minor - one.minor) <= slack)) return [];
  const rules = new Map(expected.map((one) => [one.minor, `${one.minor}, ${one.rule}`]));
  const tolerance = slack > 0 ? `, give or take ${slack}` : '';
  return [{ path, problem: `is ${minor} and must be ${[...rules.values()].join(', or ')}${tolerance}` }];
}

function refuse(differences: readonly Difference[]): void {
  const [first] = differences;
  if (!first) return;
  const named = differences.slice(0, NAMED_MAX).map(({ path, problem }) => `${path} ${problem}`);
  const more = differences.length - named.length;
  const rest = more > 0 ? [`${more} more`] : [];
  throw new Refusal('wrong_sums', `${[...named, ...rest].join('; ')}.`, first.path);
}
