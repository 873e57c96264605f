import t from 'tap';

import { createRandom } from '../../src/demo/random.ts';
import { britishVatNumber, irishVatNumber } from '../../src/demo/vat-numbers.ts';
import { generate } from './_company.ts';

const { customers, people } = (await generate(3_000)).company;

const eircode = /^(D6W|[ACDEFHKNPRTVWXY]\d{2}) [0-9ACDEFHKNPRTVWXY]{4}$/;
const britishPostcode = /^[A-Z]{1,2}[1-9]\d? \d[ABD-HJLNP-UW-Z]{2}$/;

/** As python-stdnum and the Revenue Commissioners have it. */
function isIrish(vatNumber: string): boolean {
  const parts = /^IE(\d)([\dA-Z+*])(\d{5})([A-W])([A-IW]?)$/.exec(vatNumber);
  if (!parts) return false;
  const [, first = '', second = '', rest = '', check = '', suffix = ''] = parts;
  const digits = /\d/.test(second) ? first + second + rest : `0${rest}${first}`;
  const letters = 'WABCDEFGHIJKLMNOPQRSTUV';
  const sum = [...digits].reduce((total, digit, index) => total + Number(digit) * (8 - index), 0);
  return letters[(sum + 9 * Math.max(0, letters.indexOf(suffix || 'W'))) % 23] === check;
}

/** As HMRC has it: modulus 97, or modulus 97 with 55 added. */
function isBritish(vatNumber: string): boolean {
  const digits = /^(?:GB|XI)(\d{9})$/.exec(vatNumber)?.[1];
  if (digits === undefined) return false;
  const weights = [8, 7, 6, 5, 4, 3, 2, 10, 1];
  const sum = weights.reduce((total, weight, index) => total + weight * Number(digits[index]), 0);
  return sum % 97 === 0 || (sum + 55) % 97 === 0;
}

t.test('the checks of this file know real VAT numbers', async (t) => {
  for (const real of ['IE6388047V', 'IE6433435F', 'IE8D79739I', 'IE6433435OA']) t.ok(isIrish(real), real);
  t.notOk(isIrish('IE6388047W'));
  t.ok(isBritish('GB980780684') && isBritish('GB220430231'));
  t.notOk(isBritish('GB802311781'));
});

t.test('generated VAT numbers have right check digits, in every form there is', async (t) => {
  const random = createRandom(7);
  const irish = Array.from({ length: 2_000 }, () => irishVatNumber(random));
  const british = Array.from({ length: 2_000 }, () => britishVatNumber(random));
  t.strictSame(
    [...irish.filter((number) => !isIrish(number)), ...british.filter((number) => !isBritish(number))],
    [],
  );
  t.ok(
    irish.some((number) => /^IE\d{7}[A-W]$/.test(number)),
    'of eight characters',
  );
  t.ok(
    irish.some((number) => number.endsWith('H')),
    'of nine characters',
  );
  t.ok(
    irish.some((number) => /^IE\d[A-Z]/.test(number)),
    'with a letter in second place',
  );
});

t.test('a customer has a VAT number of its country, or none', async (t) => {
  for (const { vatId, countryCode, legalName } of customers) {
    if (legalName === null) t.equal(vatId, null);
    else if (vatId !== null) t.ok(countryCode === 'IE' ? isIrish(vatId) : isBritish(vatId), vatId);
  }
});

t.test('an address has a postcode of the right shape, and a place in that country', async (t) => {
  for (const { addressLines, countryCode, sites } of customers) {
    const shapes = { IE: eircode, GB: britishPostcode };
    t.match(addressLines.at(-1), shapes[countryCode as 'IE' | 'GB']);
    for (const site of sites) {
      t.match(site.postcode, shapes[site.countryCode as 'IE' | 'GB']);
      if (site.geo)
        t.ok(site.geo.lat > 50 && site.geo.lat < 57 && site.geo.lng > -10.5 && site.geo.lng < 0.5);
    }
  }
});

t.test('customers are at home in both countries, some with several sites, some archived', async (t) => {
  t.strictSame(new Set(customers.map(({ countryCode }) => countryCode)), new Set(['IE', 'GB']));
  t.strictSame(new Set(customers.map(({ currency }) => currency)), new Set(['EUR', 'GBP']));
  t.ok(customers.some(({ sites }) => sites.length === 3) && customers.some(({ archived }) => archived));
  t.ok(customers.every(({ contacts }) => contacts.filter(({ isBilling }) => isBilling).length === 1));
});

t.test('nobody real is written to or called', async (t) => {
  const contacts = customers.flatMap((customer) => customer.contacts);
  const emails = [...customers, ...people, ...contacts].map(({ email }) => email);
  t.ok(emails.every((email) => email === null || /^[a-z0-9.]+@[a-z0-9-]+\.example$/.test(email)));
  t.equal(new Set(people.map(({ email }) => email)).size, people.length);
  const reserved = /^(\+353 20 91\d \d{4}|\+44 (7700 900|20 7946 0|1632 960)\d{3})$/;
  t.ok(contacts.every(({ phone }) => phone === null || reserved.test(phone)));
});
