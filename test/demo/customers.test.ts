import t from 'tap';

import { problemOfVatNumber } from '../../src/contract/vat-numbers.ts';
import { createRandom } from '../../src/demo/random.ts';
import { britishVatNumber, irishVatNumber } from '../../src/demo/vat-numbers.ts';
import { generatedCompany } from './_company.ts';

const { customers, people } = (await generatedCompany()).company;

const eircode = /^(D6W|[ACDEFHKNPRTVWXY]\d{2}) [0-9ACDEFHKNPRTVWXY]{4}$/;
const britishPostcode = /^[A-Z]{1,2}[1-9]\d? \d[ABD-HJLNP-UW-Z]{2}$/;

t.test('generated VAT numbers have right check digits, in every form there is', async (t) => {
  const random = createRandom(7);
  const irish = Array.from({ length: 2_000 }, () => irishVatNumber(random));
  const british = Array.from({ length: 2_000 }, () => britishVatNumber(random));
  t.strictSame(
    [...irish, ...british].filter((number) => problemOfVatNumber(number) !== undefined),
    [],
  );
  for (const form of [/^IE\d{7}[A-W]$/, /H$/, /^IE\d[A-Z]/])
    t.ok(
      irish.some((number) => form.test(number)),
      String(form),
    );
});

t.test('a customer has a VAT number of its country, or none', async (t) => {
  for (const { vatId, countryCode, legalName } of customers) {
    if (legalName === null) t.equal(vatId, null);
    else if (vatId !== null) t.match(vatId, countryCode === 'IE' ? /^IE/ : /^(GB|XI)/);
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
