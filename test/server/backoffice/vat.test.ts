import fc from 'fast-check';
import t, { type Test } from 'tap';

import {
  balance,
  convertBreakdown,
  convertMinor,
  lineAmountMinor,
  totals,
  vatBreakdown,
  vatMinor,
} from '../../../src/server/backoffice/vat.ts';
import type { VatLine } from '../../../src/server/backoffice/vat.ts';

const amountMinor = fc.integer({ min: -10_000_000_000, max: 10_000_000_000 });

const categoryAndRate = fc.oneof(
  fc.record({
    vatCategory: fc.constant('S' as const),
    vatRateBasisPoints: fc.constantFrom(2300, 2000, 1350, 900, 500),
  }),
  fc.record({
    vatCategory: fc.constantFrom('Z', 'E', 'AE', 'K', 'G', 'O'),
    vatRateBasisPoints: fc.constant(0),
  }),
);

const line: fc.Arbitrary<VatLine> = fc
  .tuple(categoryAndRate, amountMinor)
  .map(([kind, amount]) => ({ ...kind, amountMinor: amount }));

const lines = fc.array(line, { minLength: 1, maxLength: 30 });

/** A quantity, as text and as millionths, so that a property can reckon without parsing. */
const quantity = fc
  .tuple(fc.bigInt({ min: -999_999_999_999_999n, max: 999_999_999_999_999n }), fc.integer({ min: 0, max: 6 }))
  .map(([whole, digits]) => {
    const unit = 10n ** BigInt(6 - digits);
    const millionths = (whole / unit) * unit;
    const padded = String(millionths < 0n ? -millionths : millionths).padStart(7, '0');
    const fraction = padded.slice(-6).slice(0, digits);
    const text = `${millionths < 0n ? '-' : ''}${padded.slice(0, -6)}${fraction && `.${fraction}`}`;
    return { text, millionths };
  });

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);
const keyOf = (category: string, rate: number) => `${category} ${rate}`;
const keysOf = (document: readonly VatLine[]) =>
  new Set(document.map(({ vatCategory, vatRateBasisPoints }) => keyOf(vatCategory, vatRateBasisPoints)));

/** True when `result` is the nearest integer to numerator / denominator, halves going away from zero. */
function isHalfUp(result: number, numerator: bigint, denominator: bigint): boolean {
  const twiceError = 2n * (BigInt(result) * denominator - numerator);
  const away = numerator < 0n ? -twiceError : twiceError;
  return away > -denominator && away <= denominator;
}

function holds<Values>(t: Test, property: fc.IProperty<Values>, options?: fc.Parameters<Values>): void {
  t.doesNotThrow(() => fc.assert(property, options));
}

t.test('a line amount', async (t) => {
  t.test('is quantity times unit price, halves rounded away from zero', async (t) => {
    const cases: [string, number, number][] = [
      ['1', 12_500, 12_500],
      ['7.5', 6_500, 48_750],
      ['0.5', 1, 1],
      ['-0.5', 1, -1],
      ['0.49', 1, 0],
      ['-0.49', 1, 0],
      ['1.005', 100, 101],
      ['2.5', 3, 8],
      ['0.000001', 500_000, 1],
      ['0.000001', 499_999, 0],
      ['-1', 2_000, -2_000],
      ['999999999', 9_007_199, 9_007_198_990_992_801],
    ];
    for (const [text, price, expected] of cases)
      t.equal(lineAmountMinor(text, price), expected, `${text} x ${price}`);
  });

  t.test('is exact for every quantity and price (I13)', async (t) => {
    holds(
      t,
      fc.property(quantity, fc.integer({ min: 0, max: 9_000_000 }), ({ text, millionths }, price) =>
        isHalfUp(lineAmountMinor(text, price), millionths * BigInt(price), 1_000_000n),
      ),
    );
  });

  t.test('of the opposite quantity is the opposite amount', async (t) => {
    holds(
      t,
      fc.property(quantity, fc.integer({ min: 0, max: 9_000_000 }), ({ text }, price) => {
        const opposite = text.startsWith('-') ? text.slice(1) : `-${text}`;
        return lineAmountMinor(opposite, price) + lineAmountMinor(text, price) === 0;
      }),
    );
  });

  t.test('is never minus zero', async (t) => {
    t.ok(Object.is(lineAmountMinor('-0', 5), 0));
    t.ok(Object.is(lineAmountMinor('-0.4', 1), 0));
  });

  t.test('is refused for what is no quantity or no integer price', async (t) => {
    for (const text of [
      '',
      ' 1',
      '1\n',
      '1,5',
      '1.',
      '.5',
      '+1',
      '1e3',
      '--1',
      '007',
      '0x1',
      '1234567890',
      '1.1234567',
      'NaN',
    ])
      t.throws(() => lineAmountMinor(text, 1), RangeError, JSON.stringify(text));
    t.throws(() => lineAmountMinor('1', 0.5), RangeError);
    t.throws(() => lineAmountMinor('999999999', Number.MAX_SAFE_INTEGER), { message: /out of range/ });
  });
});

t.test('VAT on an amount', async (t) => {
  t.test('is rounded half up, symmetrically', async (t) => {
    const cases: [number, number, number][] = [
      [10_000, 2300, 2300],
      [50, 100, 1],
      [49, 100, 0],
      [-50, 100, -1],
      [12_345, 1350, 1667],
      [0, 2300, 0],
      [9_007_199_254_740_991, 10_000, 9_007_199_254_740_991],
    ];
    for (const [taxable, rate, expected] of cases)
      t.equal(vatMinor(taxable, rate), expected, `${taxable} at ${rate}`);
  });

  t.test('is exact where the product passes 2^53 (I7)', async (t) => {
    holds(
      t,
      fc.property(fc.maxSafeInteger(), fc.integer({ min: 0, max: 10_000 }), (taxable, rate) =>
        isHalfUp(vatMinor(taxable, rate), BigInt(taxable) * BigInt(rate), 10_000n),
      ),
    );
  });
});

t.test('a breakdown', async (t) => {
  t.test('has each category and rate of the lines exactly once (I5)', async (t) => {
    holds(
      t,
      fc.property(lines, (document) => {
        const keys = vatBreakdown(document).map(({ category, rateBasisPoints }) =>
          keyOf(category, rateBasisPoints),
        );
        return keys.length === keysOf(document).size && keys.every((key) => keysOf(document).has(key));
      }),
    );
  });

  t.test('taxes the sum of its lines, and category S alone (I4, I6, I7)', async (t) => {
    holds(
      t,
      fc.property(lines, (document) => {
        const items = vatBreakdown(document);
        return (
          sum(items.map(({ taxableMinor }) => taxableMinor)) ===
            sum(document.map((item) => item.amountMinor)) &&
          items.every(({ category, rateBasisPoints, taxableMinor, vatMinor: vat }) => {
            const own = document.filter(
              (item) => item.vatCategory === category && item.vatRateBasisPoints === rateBasisPoints,
            );
            const expectedVat = category === 'S' ? vatMinor(taxableMinor, rateBasisPoints) : 0;
            return taxableMinor === sum(own.map((item) => item.amountMinor)) && vat === expectedVat;
          })
        );
      }),
    );
  });

  t.test('does not depend on the order of the lines', async (t) => {
    holds(
      t,
      fc.property(
        lines.chain((document) =>
          fc.tuple(fc.constant(document), fc.shuffledSubarray(document, { minLength: document.length })),
        ),
        ([document, shuffled]) => {
          t.same(vatBreakdown(shuffled), vatBreakdown(document));
        },
      ),
      { numRuns: 50 },
    );
  });

  t.test('comes in the order of categories, the highest rate first', async (t) => {
    const kinds = [
      ['O', 0],
      ['S', 900],
      ['AE', 0],
      ['S', 2300],
      ['G', 0],
      ['Z', 0],
      ['S', 1350],
      ['M', 0],
      ['K', 0],
      ['E', 0],
    ] as const;
    const document = kinds.map(([vatCategory, vatRateBasisPoints]) => ({
      vatCategory,
      vatRateBasisPoints,
      amountMinor: 100,
    }));
    t.strictSame(
      vatBreakdown(document).map(({ category, rateBasisPoints }) => [category, rateBasisPoints]),
      [
        ['S', 2300],
        ['S', 1350],
        ['S', 900],
        ['Z', 0],
        ['E', 0],
        ['AE', 0],
        ['K', 0],
        ['G', 0],
        ['O', 0],
        ['M', 0],
      ],
    );
  });

  t.test('computes VAT on the document and not per line', async (t) => {
    const cent = { vatCategory: 'S', vatRateBasisPoints: 2300, amountMinor: 2 } as const;
    t.strictSame(vatBreakdown([cent, cent, cent]), [
      { category: 'S', rateBasisPoints: 2300, taxableMinor: 6, vatMinor: 1 },
    ]);
  });

  t.test('of no lines is empty', async (t) => {
    t.strictSame(vatBreakdown([]), []);
    t.strictSame(totals([]), { netMinor: 0, vatMinor: 0, grossMinor: 0 });
  });
});

t.test('totals add up (I1, I2, I3, I4)', async (t) => {
  holds(
    t,
    fc.property(lines, (document) => {
      const items = vatBreakdown(document);
      const { netMinor, vatMinor: vat, grossMinor } = totals(items);
      return (
        netMinor === sum(document.map((item) => item.amountMinor)) &&
        netMinor === sum(items.map((item) => item.taxableMinor)) &&
        vat === sum(items.map((item) => item.vatMinor)) &&
        grossMinor === netMinor + vat
      );
    }),
  );
});

t.test('a converted amount', async (t) => {
  t.test('is rounded once', async (t) => {
    t.equal(convertMinor(10_000, { from: 'GBP', to: 'EUR', exchangeRate: '1.1743' }), 11_743);
    t.equal(convertMinor(-1, { from: 'GBP', to: 'EUR', exchangeRate: '0.5' }), -1);
    t.equal(convertMinor(1, { from: 'GBP', to: 'EUR', exchangeRate: '1.174300' }), 1);
    t.equal(convertMinor(12_345, { from: 'EUR', to: 'EUR', exchangeRate: '1' }), 12_345);
  });

  t.test('knows currencies without minor units', async (t) => {
    t.equal(convertMinor(100_000, { from: 'JPY', to: 'EUR', exchangeRate: '0.0061' }), 61_000);
    t.equal(convertMinor(61_000, { from: 'EUR', to: 'JPY', exchangeRate: '163.9344' }), 100_000);
  });

  t.test('is exact for every amount and rate (I17)', async (t) => {
    holds(
      t,
      fc.property(amountMinor, fc.integer({ min: 1, max: 99_999_999 }), (amount, millionths) => {
        const padded = String(millionths).padStart(7, '0');
        const exchangeRate = `${padded.slice(0, -6)}.${padded.slice(-6)}`;
        const converted = convertMinor(amount, { from: 'GBP', to: 'EUR', exchangeRate });
        return isHalfUp(converted, BigInt(amount) * BigInt(millionths), 1_000_000n);
      }),
    );
  });

  t.test('is refused at what is no rate', async (t) => {
    for (const exchangeRate of ['', '0', '0.000', '-1', '1.', '.5', '1,5', '1e2', ' 1', '01', '1.000000001'])
      t.throws(
        () => convertMinor(1, { from: 'GBP', to: 'EUR', exchangeRate }),
        RangeError,
        JSON.stringify(exchangeRate),
      );
    t.throws(() => convertMinor(1, { from: 'GBP', to: 'EURO', exchangeRate: '1' }), RangeError);
  });

  t.test('makes a breakdown whose totals add up', async (t) => {
    holds(
      t,
      fc.property(lines, (document) => {
        const items = vatBreakdown(document);
        const conversion = { from: 'GBP', to: 'EUR', exchangeRate: '1.1743' };
        const converted = convertBreakdown(items, conversion);
        const { netMinor, vatMinor: vat, grossMinor } = totals(converted);
        return (
          grossMinor === netMinor + vat &&
          converted.every((item, index) => {
            const original = items[index];
            return (
              original !== undefined &&
              item.category === original.category &&
              item.rateBasisPoints === original.rateBasisPoints &&
              item.taxableMinor === convertMinor(original.taxableMinor, conversion) &&
              item.vatMinor === convertMinor(original.vatMinor, conversion)
            );
          })
        );
      }),
    );
  });
});

t.test('a balance', async (t) => {
  const movements = fc.record({
    grossMinor: amountMinor,
    creditedMinor: fc.nat(),
    paidMinor: fc.nat(),
    refundedMinor: fc.nat(),
  });

  t.test('is due or owed back, never both (P1)', async (t) => {
    holds(
      t,
      fc.property(movements, (amounts) => {
        const { amountDueMinor, creditBalanceMinor } = balance(amounts);
        return amountDueMinor >= 0 && creditBalanceMinor >= 0 && amountDueMinor * creditBalanceMinor === 0;
      }),
    );
  });

  t.test('is gross - credited - paid + refunded (P2)', async (t) => {
    holds(
      t,
      fc.property(movements, (amounts) => {
        const { amountDueMinor, creditBalanceMinor } = balance(amounts);
        const { grossMinor, creditedMinor, paidMinor, refundedMinor } = amounts;
        return amountDueMinor - creditBalanceMinor === grossMinor - creditedMinor - paidMinor + refundedMinor;
      }),
    );
  });

  const states: [string, [number, number, number, number], [number, number, boolean]][] = [
    ['unpaid', [100, 0, 0, 0], [100, 0, false]],
    ['paid in part', [100, 0, 40, 0], [60, 0, false]],
    ['paid', [100, 0, 100, 0], [0, 0, true]],
    ['credited in part and paid', [100, 30, 70, 0], [0, 0, true]],
    ['credited without any payment', [100, 100, 0, 0], [0, 0, false]],
    ['overpaid', [100, 0, 120, 0], [0, 20, false]],
    ['overpaid and refunded', [100, 0, 120, 20], [0, 0, true]],
    ['paid, credited and wholly refunded', [100, 100, 100, 100], [0, 0, false]],
    ['paid and refunded', [100, 0, 100, 100], [100, 0, false]],
    ['of nothing', [0, 0, 0, 0], [0, 0, false]],
  ];
  for (const [name, [grossMinor, creditedMinor, paidMinor, refundedMinor], expected] of states) {
    t.test(`of an invoice ${name}`, async (t) => {
      const { amountDueMinor, creditBalanceMinor, isSettled } = balance({
        grossMinor,
        creditedMinor,
        paidMinor,
        refundedMinor,
      });
      t.strictSame([amountDueMinor, creditBalanceMinor, isSettled], expected);
      t.ok(
        Object.is(Math.abs(amountDueMinor), amountDueMinor) &&
          Object.is(Math.abs(creditBalanceMinor), creditBalanceMinor),
      );
    });
  }
});
