import t from 'tap';
import { decimalAmount, rateText } from '../../../src/contract/currencies.ts';
import { moneyFormat, quantityText } from '../../../src/server/printed-document/amounts.ts';

t.test('amounts are written as in Ireland and the United Kingdom', async (t) => {
  t.strictSame(
    [
      moneyFormat('EUR').withSymbol(123_456_789),
      moneyFormat('GBP').withSymbol(-5),
      moneyFormat('JPY').withSymbol(1234),
      moneyFormat('KWD').plain(1234),
      moneyFormat('EUR').plain(Number.MAX_SAFE_INTEGER),
      moneyFormat('EUR').plain(0),
    ],
    ['€1,234,567.89', '\u2212£0.05', 'JP¥1,234', '1.234', '90,071,992,547,409.91', '0.00'],
  );
  t.strictSame(['1', '2.500000', '-1234567.25', '0.333333'].map(quantityText), [
    '1',
    '2.5',
    '\u22121,234,567.25',
    '0.333333',
  ]);
  t.strictSame([2300, 1350, 480, 0].map(rateText), ['23%', '13.5%', '4.8%', '0%']);
});

t.test('amounts below a unit, below zero and beyond a double’s digits have all decimals', async (t) => {
  const amounts = [0, -5, -0, Number.MAX_SAFE_INTEGER].map((minor) => decimalAmount(minor, 'EUR'));
  t.strictSame(amounts, ['0.00', '-0.05', '0.00', '90071992547409.91']);
  t.equal(decimalAmount(123_456, 'KWD'), '123.456');
});
