import type { WithOf } from '../../../src/contract/feed.ts';
import { customerSave, siteOf } from './_changes.ts';
import { onSqlite, tablesChangedBy } from './_backoffice.ts';

const contact = {
  ...{ name: 'Niamh Daly', email: null, phone: '+353 61 555 0100' },
  ...{ role: 'Accounts', isBilling: true },
};

/** A customer that has a value for every member. */
const fullCustomer = {
  ...{ id: 'cus_7', name: 'Castlemore', legalName: 'Castlemore Construction Limited' },
  ...{ addressLines: ['Castlemore House'], countryCode: 'IE', vatId: 'IE6388047V' },
  ...{ email: 'accounts@castlemore.example', contactName: 'Niamh Daly' },
  ...{ currency: 'EUR', paymentTermsDays: 14 },
  contacts: [contact],
  sites: [siteOf('site_1'), siteOf('site_2')],
} satisfies WithOf<'customer.save'>;

onSqlite('customer.save', async (t, { openCompany, engine, setNow }) => {
  await t.test('stores what is given, at its own time, with null and nothing for what is not', async (t) => {
    const acme = await openCompany();
    const full = await acme.apply({ ...customerSave(fullCustomer), at: '2025-02-03T04:05:06Z' });
    const createdAt = '2025-02-03T04:05:06.000Z';
    const updated = '2026-11-20T12:00:00.000Z';
    t.strictSame(full, { ...fullCustomer, archived: false, createdAt, updatedAt: updated });
    const { id, updatedAt, ...bare } = await acme.apply(customerSave());
    t.match(id, /^cus_[0-9a-f]{8}-[0-9a-f]{4}-7/);
    t.equal(updatedAt, '2026-11-20T12:00:00.001Z');
    t.strictSame(bare, {
      ...customerSave().with,
      ...{ legalName: null, archived: false, vatId: null, email: null, contactName: null },
      ...{ contacts: [], sites: [], createdAt: '2026-11-20T12:00:00.000Z' },
    });
  });

  await t.test('changes nothing when the customer is so, in whatever order members come', async (t) => {
    const acme = await openCompany();
    const customer = await acme.apply(customerSave(fullCustomer));
    setNow('2026-11-21T12:00:00.000Z');
    const reversed = (value: object) => Object.fromEntries(Object.entries(value).reverse());
    const sites = fullCustomer.sites.map(reversed);
    const inAnother = reversed({ ...fullCustomer, contacts: [reversed(contact)], sites });
    for (const given of [structuredClone(fullCustomer), inAnother as typeof fullCustomer]) {
      const save = async () => t.strictSame(await acme.apply(customerSave(given)), customer);
      t.strictSame(await tablesChangedBy(engine, save), []);
    }
  });

  await t.test('is refused in a country of no list, by its path', async (t) => {
    const acme = await openCompany();
    for (const code of ['UK', 'EL', 'XK', 'QQ']) {
      const { path, message } = await acme.refusal(customerSave({ countryCode: code }));
      t.equal(
        `${path}: ${message}`,
        `/with/countryCode: countryCode is "${code}", which is no code of ISO 3166-1.`,
      );
    }
    const sites = [siteOf('site_1'), { ...siteOf('site_2'), countryCode: 'UK' }];
    t.match(await acme.refusal(customerSave({ sites })), { path: '/with/sites/1/countryCode' });
    t.match(await acme.apply(customerSave({ countryCode: 'XI' })), { countryCode: 'XI' });
  });

  await t.test('is refused when two sites share an id', async (t) => {
    const acme = await openCompany();
    const sites = ['site_1', 'site_2', 'site_3', 'site_2', 'site_1'].map(siteOf);
    const refusal = {
      code: 'duplicate_id',
      path: '/with/sites/3/id',
      message: 'Two sites have the id "site_2".',
    };
    t.strictSame(await acme.refusal(customerSave({ sites })), refusal);
  });
});

onSqlite('customer.archive and customer.restore are refused for what is so already', async (t, office) => {
  const acme = await office.openCompany();
  await acme.apply(customerSave(fullCustomer));
  const refused = { code: 'wrong_state', path: '/with/id' };
  const restore = { change: 'customer.restore', with: { id: 'cus_7' } };
  const archive = { change: 'customer.archive', with: { id: 'cus_7' } } as const;
  const there = 'The customer "cus_7" isn\'t archived.';
  t.strictSame(await acme.refusal(restore), { ...refused, message: there });
  t.match(await acme.apply(archive), { archived: true });
  const message = 'The customer "cus_7" is archived already.';
  t.strictSame(await acme.refusal(archive), { ...refused, message });
  t.strictSame(await acme.events(), [], 'nothing is sent');
});
