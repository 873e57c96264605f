/** Random lines of documents and quotes, mostly such as can be issued between their parties. */
import type { DraftLine, NewInvoice } from '../../src/contract/feed.ts';
import type { Customer } from '../../src/contract/records.ts';
import { without } from './_model.ts';
import { type Draw, idOf, someOf } from './_chance.ts';

type Category = DraftLine['vatCategory'];

/** Lines for a customer of whom only the id may be known. */
export function drawLines(draw: Draw, customer: Partial<Customer>, currency: string): DraftLine[] {
  if (draw.happens(0.02)) return [];
  const count = draw.happens(0.03) ? 12 + draw.below(28) : 1 + draw.below(4);
  const categories = categoriesFor(draw, customer);
  const words = draw.oneOf('Exempt: VATCA 2010 Sch 1 para 7', 'Exempt: VATA 1994 Sch 9 Group 1');
  const sound = Array.from({ length: count }, () =>
    drawLine(draw, draw.pick(categories) ?? 'S', { words, isBritish: isBritish(draw, customer) }),
  );
  const lines = draw.happens(0.07) ? withFlaw(draw, sound) : sound;
  const discount = draw.happens(0.12) ? discountOf(draw, lines) : [];
  if (draw.happens(0.02)) return twins(lines);
  if (draw.happens(0.004)) return manyRates(draw);
  // A line of everything that a number can hold leaves the others no room.
  if (draw.happens(0.015)) return [...lines, hugeLine(draw, currency)];
  return [...lines, ...discount];
}

/** Categories that may stand together on a document of these parties; sometimes any that there are. */
function categoriesFor(draw: Draw, { countryCode, vatId }: Partial<Customer>): Category[] {
  const { profile } = draw.company;
  if (draw.happens(0.04)) return ['S', 'Z', 'E', 'AE', 'K', 'G', 'O'];
  if (profile.vatId === undefined) return draw.happens(0.95) ? ['O'] : ['S'];
  if (draw.happens(0.04)) return ['O'];
  const isDomestic = countryCode === profile.countryCode;
  if (isDomestic)
    return draw.happens(0.2) && vatId ? ['AE'] : draw.oneOf<Category[]>(['S'], ['S', 'Z'], ['S', 'Z', 'E']);
  if (countryCode === 'US') return ['G'];
  if (!vatId) return draw.oneOf<Category[]>(['S'], ['G'], ['S', 'AE']);
  return draw.oneOf<Category[]>(['AE'], ['K'], ['S', 'AE'], ['G'], ['S']);
}

/** Between two parties in the United Kingdom a reverse charge states its rate. */
const isBritish = ({ company }: Draw, { countryCode }: Partial<Customer>) =>
  company.profile.countryCode === 'GB' && countryCode === 'GB';

function drawLine(
  draw: Draw,
  vatCategory: Category,
  { words, isBritish: statesRate }: { words: string; isBritish: boolean },
): DraftLine {
  return {
    description: draw.oneOf('Labour', 'Copper pipe, 15 mm', 'Call-out “out of hours”'),
    quantity: drawQuantity(draw),
    unitPriceMinor: drawPrice(draw),
    vatCategory,
    vatRateBasisPoints: vatCategory === 'S' ? drawRate(draw) : 0,
    ...someOf(draw, 0.8, { id: draw.newId('line') }),
    ...someOf(draw, 0.3, { unitCode: draw.oneOf('HUR', 'MTR', 'C62') }),
    ...someOf(draw, 0.12, { jobId: idOf(draw, ({ tables }) => tables.jobs) }),
    ...(vatCategory === 'E' ? { vatExemptionReason: words } : {}),
    ...(vatCategory === 'AE' && (statesRate || draw.happens(0.1))
      ? { reverseChargeRateBasisPoints: draw.oneOf(2000, 500) }
      : {}),
  };
}

type Extra = Pick<NewInvoice, 'pricesIncludeVat' | 'allowances' | 'charges'>;

const reasons = { reason: 'Agreed in May' };

/** Exact prices, discounts and charges of some lines, and the document's own. */
export function drawExtras(draw: Draw, lines: DraftLine[]): { lines: DraftLine[] } & Extra {
  const isPlain = lines.some(
    ({ quantity, unitPriceMinor = 0 }) => unitPriceMinor > 1e8 || quantity.length > 6,
  );
  if (isPlain || lines.length === 0 || lines.length > 8 || !draw.happens(0.3)) return { lines };
  const adjustment = () => ({ ...reasons, percent: draw.oneOf('10', '2.5', '33.3333', '100') });
  const charge = (below: number) => ({ ...reasons, amountMinor: draw.below(below) });
  const own = lines.map((line): DraftLine => {
    const price = draw.happens(0.3)
      ? { ...without(line, 'unitPriceMinor'), unitPrice: draw.oneOf('0.084275', '12.5', '99.999999', '7') }
      : line;
    return {
      ...price,
      ...someOf(draw, 0.2, { priceBaseQuantity: draw.oneOf('100', '3', '0.5') }),
      ...someOf(draw, 0.3, { allowances: [adjustment()] }),
      ...someOf(draw, 0.2, { charges: [charge(500)] }),
    };
  });
  const { vatCategory = 'S', vatRateBasisPoints = 0 } = draw.pick(lines) ?? {};
  const of = { vatCategory, vatRateBasisPoints };
  // The words about a British reverse charge state the VAT of lines alone.
  const isAdjusted = vatCategory !== 'AE' && lines.every(({ quantity }) => !quantity.startsWith('-'));
  return {
    lines: own,
    ...someOf(draw, 0.4, { pricesIncludeVat: true }),
    ...(isAdjusted ? someOf(draw, 0.4, { allowances: [{ ...adjustment(), ...of }] }) : {}),
    ...(isAdjusted ? someOf(draw, 0.3, { charges: [{ ...charge(900), ...of }] }) : {}),
  };
}

/** Puts something wrong with one of the lines, for which its document can't be issued, or so it may seem. */
function withFlaw(draw: Draw, lines: readonly DraftLine[]): DraftLine[] {
  const flawed = draw.below(lines.length);
  const flaws: Partial<DraftLine>[] = [
    { vatRateBasisPoints: 0 },
    { vatRateBasisPoints: 2300 },
    { vatExemptionReason: drawAeWords(draw) },
    { vatExemptionReason: null },
    { reverseChargeRateBasisPoints: 0 },
    { unitCode: 'PCS' },
    { description: draw.oneOf(' \n', '\u2060', 'Bell \u0007', 'தம') },
  ];
  return lines.map((line, index) => (index === flawed ? { ...line, ...draw.pick(flaws) } : line));
}

const drawAeWords = ({ oneOf }: Draw) =>
  oneOf(
    'Reverse charge (article 196)',
    'VAT on this supply to be accounted for by the Principal Contractor. VAT at 13.5 %.',
    'The customer pays.',
    ' ',
  );

const drawRate = ({ oneOf }: Draw) => oneOf(2300, 2300, 2000, 2000, 1350, 900, 500, 480, 1);

function drawQuantity({ happens, oneOf, below }: Draw): string {
  if (happens(0.5)) return String(1 + below(9));
  if (happens(0.1)) return oneOf('0', '-1', '0.000001', '999999999', '-0.5');
  const digits = 1 + below(6);
  return `${below(20)}.${String(below(10 ** digits)).padStart(digits, '0')}`;
}

function drawPrice({ happens, below }: Draw): number {
  // Small amounts are where a half is rounded.
  if (happens(0.3)) return below(60);
  return happens(0.7) ? below(20_000) : below(3_000_000);
}

/** A discount is a line of its own, in the category and at the rate of the line that it reduces. */
function discountOf(draw: Draw, lines: readonly DraftLine[]): DraftLine[] {
  const reduced = draw.pick(lines);
  if (!reduced) return [];
  const unitPriceMinor = draw.below(1 + (reduced.unitPriceMinor ?? 0));
  return [{ ...without(reduced, 'id'), description: 'Discount', quantity: '-1', unitPriceMinor }];
}

const twins = (lines: readonly DraftLine[]) =>
  [...lines, ...lines.slice(0, 1)].map((line) => ({ ...line, id: 'line_twin' }));

/** More categories and rates than a breakdown can have, or just as many. */
function manyRates({ below }: Draw): DraftLine[] {
  const price = { quantity: '1', unitPriceMinor: 10_000, vatCategory: 'S' } as const;
  return Array.from({ length: 50 + below(2) }, (_, index) => {
    return { description: 'A rate of its own', ...price, vatRateBasisPoints: 1 + index };
  });
}

/** An amount about as large as a number can hold exactly, alone or with its VAT. */
function hugeLine({ oneOf, company }: Draw, currency: string): DraftLine {
  const isCharged = company.profile.vatId !== undefined;
  const [quantity, unitPriceMinor] = oneOf<[string, number]>(
    ['1', Number.MAX_SAFE_INTEGER],
    ['1', 4_503_599_627_370_496],
    ['2', Number.MAX_SAFE_INTEGER],
    ['-1', Number.MAX_SAFE_INTEGER],
    ['999999999', 9_007_199],
  );
  const vatCategory = isCharged ? oneOf('S', 'Z') : 'O';
  return {
    description: `Everything, in ${currency}`,
    quantity,
    unitPriceMinor,
    vatCategory,
    vatRateBasisPoints: 0,
  };
}

/** Some members that a document or a quote may have, drawn for its customer. */
export function siteOf(
  { happens, pick }: Draw,
  { sites = [] }: Partial<Customer>,
): string | null | undefined {
  if (happens(0.02)) return 'site_none';
  if (happens(0.6)) return undefined;
  return pick(sites)?.id ?? null;
}
