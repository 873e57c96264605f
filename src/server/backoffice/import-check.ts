import type { WithOf } from '../../contract/feed.ts';
import type { Invoice } from '../../contract/records.ts';
import { sumMinor } from '../../contract/exact.ts';
import { type Conversion, convertMinor, vatBreakdown, vatOf } from '../../contract/vat.ts';
import { amountsTaken, chargedOn, type Credited } from './credit-notes.ts';
import {
  type Adjustments,
  type AmountsDraft,
  documentAdjustments,
  type PricedLine,
  pricedLine,
  vatLinesOf,
  withoutVat,
} from './document-amounts.ts';
import { Refusal, withinRange } from './refusal.ts';

type Item = Invoice['vatBreakdown'][number];
type Amounts = Pick<Invoice, 'vatBreakdown' | 'totals'>;
type Given = Pick<WithOf<'invoice.import'>, 'lines' | 'tolerate' | 'accountingCurrency'> &
  Amounts &
  Omit<AmountsDraft, 'lines'>;

/** The lines, discounts and charges of an imported document as its prices give them. */
export interface PricedImport {
  /** With VAT where prices include it. */
  breakdown: Item[];
  /** Without VAT. */
  net: { lines: PricedLine[]; adjustments: Adjustments };
}

/** @throws Refusal for bad prices, discounts and charges, and `amount_out_of_range`. */
export function pricedImport(given: Given): PricedImport {
  const lines = given.lines.map((line, index) => pricedLine(line, given, `/with/lines/${index}`));
  const adjustments = documentAdjustments(given, lines, '/with');
  return withinRange('/with', () => {
    const asLines = lines.map(({ line, amountMinor }) => ({ ...line, amountMinor }));
    const breakdown = vatBreakdown(vatLinesOf(asLines, adjustments));
    const charged = breakdown.map((item) => chargedOn(item, true));
    const isWithVat = given.pricesIncludeVat === true;
    return { breakdown, net: isWithVat ? withoutVat(lines, adjustments, charged) : { lines, adjustments } };
  });
}

/** An amount that isn't what it has to be; `path` leads to it within the change. */
interface Difference {
  path: string;
  problem: string;
}

/** As many differences as a message names. */
const NAMED_MAX = 20;

/**
 * Holds the amounts of an imported document to arithmetic: each line, each item of the breakdown, the totals, and the
 * same in the accounting currency.
 * @param terms.credited the invoice of a credit note, whose VAT may also be what is left of that invoice.
 * @returns the breakdowns in the order that documents of Fieldledger have.
 * @throws Refusal `wrong_sums` naming each difference, and `amount_out_of_range`.
 */
export function checkedAmounts(
  given: Given,
  priced: PricedImport,
  terms: { conversion?: Conversion | null; credited?: Credited | undefined } = {},
): { breakdown: Item[]; accounted: Item[] } {
  return withinRange('/with', () => {
    const differences: Difference[] = [];
    const { vatBreakdown: stated, accountingCurrency: own, pricesIncludeVat: includesVat = false } = given;
    const expected = vatBreakdown(vatLinesOf(given.lines, priced.net.adjustments));
    const breakdown = matched(expected, stated, '/with/vatBreakdown', differences);
    const accounted = own
      ? matched(expected, own.vatBreakdown, '/with/accountingCurrency/vatBreakdown', differences)
      : [];
    // Amounts of an item that is missing depend on too much to be named.
    if (differences.length === 0) {
      const { conversion = null, credited } = terms;
      const taken =
        credited &&
        amountsTaken(credited, includesVat ? priced.breakdown : breakdown, conversion, includesVat);
      const slack = slackOf(given);
      const vatSlack = (item: Item) => (mayBeRounded(item) ? slack(item) : 0);
      const left = (items: Item[] | undefined, item: Item) => items?.find((one) => isLike(one, item));
      differences.push(
        ...breakdownDifferences(given, (item) => {
          const sum = expected.find((one) => isLike(one, item))?.taxableMinor ?? 0;
          return {
            taxable: [{ minor: sum, rule: 'the sum of its lines' }],
            vat: [
              vatIn(item, includesVat ? priced.breakdown : undefined),
              ...asTaken(left(taken?.vatBreakdown, item)?.vatMinor),
            ],
            slack: slack(item),
            vatSlack: vatSlack(item),
          };
        }),
        ...(own && conversion
          ? breakdownDifferences({ ...own, path: '/with/accountingCurrency' }, (item) => {
              const source = breakdown.find((one) => isLike(one, item)) ?? item;
              const converted = (minor: number) => ({
                minor: convertMinor(minor, conversion),
                rule: `${minor} at the rate ${conversion.exchangeRate}`,
              });
              const rest = left(taken?.accounted, item);
              return {
                taxable: [converted(source.taxableMinor), ...asTaken(rest?.taxableMinor)],
                vat: [converted(source.vatMinor), ...asTaken(rest?.vatMinor)],
                slack: slack(item),
                vatSlack: vatSlack(item),
              };
            })
          : []),
      );
    }
    refuse([...lineDifferences(given, priced), ...differences]);
    return { breakdown, accounted };
  });
}

/** A value that an amount may have, and why. */
interface Expected {
  minor: number;
  rule: string;
}

function asTaken(minor: number | undefined): Expected[] {
  return minor === undefined ? [] : [{ minor, rule: 'what is left of its invoice' }];
}

function lineDifferences({ lines, tolerate, pricesIncludeVat }: Given, { net }: PricedImport): Difference[] {
  return lines.flatMap(({ quantity, unitPriceMinor, unitPrice, amountMinor, ...line }, index) => {
    const price = unitPrice === undefined ? `unitPriceMinor ${unitPriceMinor}` : `unitPrice ${unitPrice}`;
    const base = line.priceBaseQuantity === undefined ? '' : ` for ${line.priceBaseQuantity}`;
    const isAdjusted = line.allowances !== undefined || line.charges !== undefined;
    const rule = [
      `quantity ${quantity} times ${price}${base}`,
      ...(isAdjusted ? ['with its discounts and charges'] : []),
      ...(pricesIncludeVat === true ? ['without VAT'] : []),
    ].join(' ');
    const expected = [{ minor: net.lines[index]?.amountMinor ?? 0, rule }];
    // Another program may share out the rounding of VAT in another way.
    const slack = tolerate !== undefined || pricesIncludeVat === true ? 1 : 0;
    return difference(`/with/lines/${index}/amountMinor`, amountMinor, expected, slack);
  });
}

/** The VAT of an item: on its net, or in its total where prices include VAT. */
function vatIn(item: Item, withVat: readonly Item[] | undefined): Expected {
  const { taxableMinor: totalMinor } = withVat?.find((one) => isLike(one, item)) ?? item;
  const at = `${totalMinor} at ${item.rateBasisPoints} basis points`;
  return withVat
    ? { minor: chargedOn({ ...item, taxableMinor: totalMinor }, true).vatMinor, rule: `the VAT in ${at}` }
    : { minor: vatOf(item), rule: `the VAT on ${at}` };
}

/** The items that are given, one for each category and rate of the lines, in the order of these. */
function matched(
  expected: readonly Item[],
  stated: readonly Item[],
  path: string,
  differences: Difference[],
): Item[] {
  for (const [index, item] of stated.entries()) {
    const at = `${path}/${index}`;
    if (stated.findIndex((one) => isLike(one, item)) < index)
      differences.push({ path: at, problem: `is a second item of ${rateOf(item)}` });
    else if (!expected.some((one) => isLike(one, item)))
      differences.push({ path: at, problem: `is of ${rateOf(item)}, which no line has` });
  }
  return expected.map((item) => {
    const found = stated.find((one) => isLike(one, item));
    if (!found) differences.push({ path, problem: `has no item of ${rateOf(item)}, which lines have` });
    return found ?? item;
  });
}

function rateOf({ category, rateBasisPoints }: Item): string {
  return `category ${category} at ${rateBasisPoints} basis points`;
}

function isLike(item: Item, other: Item): boolean {
  return item.category === other.category && item.rateBasisPoints === other.rateBasisPoints;
}

/** Tolerance for the amounts of an item: nothing, or a minor unit for each of its lines. */
function slackOf({ lines, tolerate }: Given): (item: Item) => number {
  if (tolerate === undefined) return () => 0;
  return ({ category, rateBasisPoints }) =>
    lines.filter(
      ({ quantity, unitPriceMinor, unitPrice, vatCategory, vatRateBasisPoints }) =>
        Number(quantity) * Number(unitPrice ?? unitPriceMinor) !== 0 &&
        vatCategory === category &&
        vatRateBasisPoints === rateBasisPoints,
    ).length;
}

/** Whether rounding can tell about the VAT of an item: there is some on it, and not the other way round. */
function mayBeRounded({ category, rateBasisPoints, taxableMinor, vatMinor }: Item): boolean {
  const isTaxed = category === 'S' && rateBasisPoints > 0 && taxableMinor !== 0;
  return isTaxed && (vatMinor === 0 || vatMinor > 0 === taxableMinor > 0);
}

/** The differences within a breakdown, and between it and the totals. */
function breakdownDifferences(
  { vatBreakdown: items, totals, path = '/with' }: Amounts & { path?: string },
  expectedOf: (item: Item) => { taxable: Expected[]; vat: Expected[]; slack: number; vatSlack: number },
): Difference[] {
  const { netMinor, vatMinor, grossMinor } = totals;
  const sumOf = (member: 'taxableMinor' | 'vatMinor') => [
    { minor: sumMinor(items.map((item) => item[member])), rule: `the sum of ${member} in vatBreakdown` },
  ];
  const gross = { minor: sumMinor([netMinor, vatMinor]), rule: 'netMinor and vatMinor together' };
  return [
    ...items.flatMap((item, index) => {
      const { taxable, vat, slack, vatSlack } = expectedOf(item);
      const at = `${path}/vatBreakdown/${index}`;
      return [
        ...difference(`${at}/taxableMinor`, item.taxableMinor, taxable, slack),
        ...difference(`${at}/vatMinor`, item.vatMinor, vat, vatSlack),
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
