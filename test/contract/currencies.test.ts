import t from 'tap';

import { convertMinor } from '../../src/contract/vat.ts';
import { columnsOf } from '../../src/tables/columns.ts';
import { currencyCodes } from '../../src/contract/code-lists.ts';
import { amountText, decimalAmount, minorDigits } from '../../src/contract/currencies.ts';
import { moneyFormat } from '../../src/server/printed-document/amounts.ts';

/** Codes whose digits ISO 4217 and CLDR, which `Intl` follows, don't agree about, with those of ISO 4217. */
const DIFFERENT: Partial<Record<string, number>> = {
  ...Object.fromEntries(
    'AFN ALL COP HUF IDR IRR KPW LAK LBP MGA MMK PKR SLL SOS SYP YER'.split(' ').map((code) => [code, 2]),
  ),
  IQD: 3,
};

const codes = [...new Set([...currencyCodes, ...Intl.supportedValuesOf('currency')])];

t.test('the minor units of every currency are those of ISO 4217', async (t) => {
  for (const currency of codes) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency });
    const digits = DIFFERENT[currency] ?? format.resolvedOptions().maximumFractionDigits ?? 2;
    t.equal(minorDigits(currency), digits, currency);
  }
});

t.test('an amount of every currency is written and converted with all its digits', async (t) => {
  const column = {
    properties: { amountMinor: { type: 'integer' }, currency: { type: 'string' } },
  };
  for (const currency of codes) {
    const digits = minorDigits(currency);
    const whole = 69_180 * 10 ** digits;
    const decimal = digits === 0 ? '69180' : `69180.${'0'.repeat(digits)}`;
    const printed = digits === 0 ? '69,180' : `69,180.${'0'.repeat(digits)}`;
    t.equal(decimalAmount(whole, currency), decimal);
    t.equal(columnsOf(column)[1]?.textOf({ amountMinor: whole, currency }), decimal);
    t.equal(moneyFormat(currency).plain(whole), printed);
    t.ok(moneyFormat(currency).withSymbol(whole).endsWith(printed), currency);
    t.ok(amountText(whole, currency).endsWith(printed), amountText(whole, currency));
    t.equal(convertMinor(whole, { from: currency, to: 'EUR', exchangeRate: '0.01' }), 69_180);
    t.equal(convertMinor(69_180, { from: 'EUR', to: currency, exchangeRate: '100' }), whole);
  }
});

t.test('an amount beyond a double’s fifteen digits keeps its cents', async (t) => {
  t.equal(amountText(Number.MAX_SAFE_INTEGER, 'EUR'), '€90,071,992,547,409.91');
  t.equal(amountText(-5, 'GBP'), '-£0.05');
});
