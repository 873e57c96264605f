import fc from 'fast-check';
import t from 'tap';

import {
  calculateBalance,
  convertBreakdown,
  convertMinor,
  lineAmountMinor,
  totals,
  vatBreakdown,
  type VatLine,
  vatMinor,
} from '../../src/contract/vat.ts';
import {
  asBreakdown,
  asTotals,
  breakdownOf,
  converted,
  convertedItems,
  lineAmount,
  totalsOf,
  vatOn,
} from '../model/_exact.ts';

const amountMinor = fc.integer({ min: -10_000_000_000, max: 10_000_000_000 });

const line: fc.Arbitrary<VatLine> = fc.oneof(
  fc.record({
    vatCategory: fc.constant('S' as const),
    vatRateBasisPoints: fc.constantFrom(2300, 2000, 1350, 900, 500),
    amountMinor,
  }),
  fc.record({
    vatCategory: fc.constantFrom('Z', 'E', 'AE', 'K', 'G', 'O'),
    vatRateBasisPoints: fc.constant(0),
    amountMinor,
  }),
);
const lines = fc.array(line, { maxLength: 30 });

/** A decimal text of at most six digits behind the point. */
const quantity = fc
  .tuple(fc.bigInt({ min: 0n, max: 999_999_999_999_999n }), fc.integer({ min: 0, max: 6 }), fc.boolean())
  .map(([millionths, digits, isNegative]) => {
    const padded = String(millionths).padStart(7, '0');
    const fraction = padded.slice(-6).slice(0, digits);
    return `${isNegative ? '-' : ''}${padded.slice(0, -6)}${fraction && `.${fraction}`}`;
  });

const conversion = fc.record({
  from: fc.constantFrom('GBP', 'JPY', 'KWD'),
  to: fc.constantFrom('EUR', 'JPY'),
  exchangeRate: fc.integer({ min: 1, max: 99_999_999 }).map((millionths) => {
    const padded = String(millionths).padStart(7, '0');
    return `${padded.slice(0, -6)}.${padded.slice(-6)}`;
  }),
});

t.test('the arithmetic is that of the model, for any amounts', async (t) => {
  fc.assert(
    fc.property(quantity, fc.integer({ min: 0, max: 9_000_000 }), (text, price) => {
      t.equal(lineAmountMinor(text, price), Number(lineAmount(text, price)), `${text} x ${price}`);
    }),
  );
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.integer({ min: 0, max: 10_000 }), (taxable, rate) => {
      t.equal(vatMinor(taxable, rate), Number(vatOn(BigInt(taxable), rate)), `${taxable} at ${rate}`);
    }),
  );
  fc.assert(
    fc.property(lines, conversion, (document, given) => {
      const exact = breakdownOf(document.map((one) => ({ ...one, amount: BigInt(one.amountMinor) })));
      const items = vatBreakdown(document);
      t.strictSame(items, asBreakdown(exact));
      t.strictSame(totals(items), asTotals(totalsOf(exact)));
      const { from, to, exchangeRate } = given;
      t.strictSame(
        convertBreakdown(items, given),
        asBreakdown(convertedItems(exact, exchangeRate, from, to)),
      );
    }),
  );
  fc.assert(
    fc.property(amountMinor, conversion, (amount, given) => {
      const { from, to, exchangeRate } = given;
      t.equal(convertMinor(amount, given), Number(converted(BigInt(amount), exchangeRate, from, to)));
    }),
  );
});

t.test('halves are rounded away from zero', async (t) => {
  const lineAmounts: [quantity: string, price: number, expected: number][] = [
    ['1', 12_500, 12_500],
    ['0.5', 1, 1],
    ['-0.5', 1, -1],
    ['0.49', 1, 0],
    ['1.005', 100, 101],
    ['0.000001', 500_000, 1],
    ['0.000001', 499_999, 0],
    ['999999999', 9_007_199, 9_007_198_990_992_801],
  ];
  for (const [text, price, expected] of lineAmounts) t.equal(lineAmountMinor(text, price), expected, text);
  for (const text of ['-0', '-0.4']) t.ok(Object.is(lineAmountMinor(text, 1), 0), 'never to minus zero');
  t.strictSame(
    [50, 49, -50, 12_345].map((taxable) => vatMinor(taxable, 100)),
    [1, 0, -1, 123],
  );
  t.equal(convertMinor(-1, { from: 'GBP', to: 'EUR', exchangeRate: '0.5' }), -1);
});

t.test('what can’t be computed exactly is refused', async (t) => {
  const quantities = ['', ' 1', '1\n', ...'1,5 1. .5 +1 1e3 --1 007 0x1 1234567890 1.1234567 NaN'.split(' ')];
  for (const text of quantities) t.throws(() => lineAmountMinor(text, 1), RangeError, JSON.stringify(text));
  t.throws(() => lineAmountMinor('1', 0.5), RangeError);
  t.throws(() => lineAmountMinor('999999999', Number.MAX_SAFE_INTEGER), { message: /out of range/ });
  for (const exchangeRate of ['', '0', '0.000', '-1', '1.', '.5', '1,5', '1e2', ' 1', '01', '1.000000001'])
    t.throws(() => convertMinor(1, { from: 'GBP', to: 'EUR', exchangeRate }), RangeError, exchangeRate);
  t.throws(() => convertMinor(1, { from: 'GBP', to: 'EURO', exchangeRate: '1' }), RangeError);
});

t.test('a breakdown comes in the order of categories, the highest rate first', async (t) => {
  const kinds = ['O 0', 'S 900', 'AE 0', 'S 2300', 'G 0', 'Z 0', 'S 1350', 'M 0', 'K 0', 'E 0'];
  const document = kinds.map((kind) => {
    const [vatCategory = '', rate] = kind.split(' ');
    return { vatCategory, vatRateBasisPoints: Number(rate), amountMinor: 100 };
  });
  t.strictSame(
    vatBreakdown(document).map(({ category, rateBasisPoints }) => `${category} ${rateBasisPoints}`),
    ['S 2300', 'S 1350', 'S 900', 'Z 0', 'E 0', 'AE 0', 'K 0', 'G 0', 'O 0', 'M 0'],
  );
});

t.test('an invoice is settled when nothing is open and money was kept', async (t) => {
  const states: [name: string, ...movements: number[]][] = [
    ['100 due', 100, 0, 0, 0],
    ['60 due', 100, 0, 40, 0],
    ['settled', 100, 0, 100, 0],
    ['settled', 100, 30, 70, 0],
    ['neither', 100, 100, 0, 0],
    ['20 owed', 100, 0, 120, 0],
    ['settled', 100, 0, 120, 20],
    ['neither', 100, 100, 100, 100],
    ['100 due', 100, 0, 100, 100],
    ['neither', 0, 0, 0, 0],
  ];
  for (const [name, grossMinor = 0, creditedMinor = 0, paidMinor = 0, refundedMinor = 0] of states) {
    const movements = { grossMinor, creditedMinor, paidMinor, refundedMinor };
    const [due = 0, owed = 0] = ['due', 'owed'].map((word) => (name.endsWith(word) ? parseInt(name, 10) : 0));
    t.strictSame(
      calculateBalance(movements),
      { amountDueMinor: due, creditBalanceMinor: owed, isSettled: name === 'settled' },
      JSON.stringify(movements),
    );
  }
});
