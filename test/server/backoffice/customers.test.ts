import type { WithOf } from '../../../src/contract/feed.ts';
import { customerSave, openStaffedCompany } from './_changes.ts';
import { onEachEngine, tablesChangedBy } from './_backoffice.ts';

const site = (id: string) => ({
  id,
  label: 'Boiler house',
  addressLines: ['Unit 3', 'Dock Road'],
  countryCode: 'IE',
  postcode: 'V94 X2Y3',
  geo: { lat: 52.66, lng: -8.63 },
});

const contact = {
  name: 'Niamh Daly',
  email: null,
  phone: '+353 61 555 0100',
  role: 'Accounts',
  isBilling: true,
};

/** A customer that has a value for every member. */
const fullCustomer = {
  id: 'cus_7',
  name: 'Castlemore',
  legalName: 'Castlemore Construction Limited',
  addressLines: ['Castlemore House'],
  countryCode: 'IE',
  vatId: 'IE6388047V',
  email: 'accounts@castlemore.example',
  contactName: 'Niamh Daly',
  currency: 'EUR',
  paymentTermsDays: 14,
  contacts: [contact],
  sites: [site('site_1'), site('site_2')],
} satisfies WithOf<'customer.save'>;

const archive = { change: 'customer.archive', with: { id: 'cus_7' } } as const;
const restore = { change: 'customer.restore', with: { id: 'cus_7' } } as const;

onEachEngine('customer.save', async (t, { openCompany, engine, setNow }) => {
  await t.test('stores what is given, with null and nothing for what is not', async (t) => {
    const acme = await openCompany();
    const full = await acme.apply({ ...customerSave(fullCustomer), at: '2025-02-03T04:05:06Z' });
    t.strictSame(full, {
      ...fullCustomer,
      archived: false,
      createdAt: '2025-02-03T04:05:06.000Z',
      updatedAt: '2026-11-20T12:00:00.000Z',
    });
    t.strictSame(await acme.record('customers', 'cus_7'), full);
    const { id, updatedAt, ...bare } = await acme.apply(customerSave());
    t.match(id, /^cus_[0-9a-f]{8}-[0-9a-f]{4}-7/);
    t.equal(updatedAt, '2026-11-20T12:00:00.001Z');
    t.strictSame(bare, {
      ...customerSave().with,
      legalName: null,
      archived: false,
      vatId: null,
      email: null,
      contactName: null,
      contacts: [],
      sites: [],
      createdAt: '2026-11-20T12:00:00.000Z',
    });
  });

  await t.test('replaces all but the time of making and whether it is archived', async (t) => {
    const acme = await openCompany();
    const { createdAt } = await acme.apply({ ...customerSave(fullCustomer), at: '2025-02-03T04:05:06Z' });
    for (const move of [restore, archive]) {
      if (move === archive) await acme.apply(move);
      const replaced = await acme.apply(customerSave({ id: 'cus_7', name: `After ${move.change}` }));
      t.strictSame(replaced, {
        ...customerSave().with,
        id: 'cus_7',
        name: `After ${move.change}`,
        legalName: null,
        archived: move === archive,
        vatId: null,
        email: null,
        contactName: null,
        contacts: [],
        sites: [],
        createdAt,
        updatedAt: replaced.updatedAt,
      });
      t.strictSame(await acme.record('customers', 'cus_7'), replaced);
    }
  });

  await t.test('changes nothing when the customer is as given already', async (t) => {
    const acme = await openCompany();
    const customer = await acme.apply(customerSave(fullCustomer));
    setNow('2026-11-21T12:00:00.000Z');
    const save = async () => {
      t.strictSame(await acme.apply(customerSave(structuredClone(fullCustomer))), customer);
    };
    t.strictSame(await tablesChangedBy(engine, save), []);
    await acme.apply(archive);
    t.strictSame(await tablesChangedBy(engine, () => acme.apply(customerSave(fullCustomer))), []);
  });

  await t.test('changes nothing when members come in another order', async (t) => {
    const acme = await openCompany();
    await acme.apply(customerSave(fullCustomer));
    const reversed = (value: object) => Object.fromEntries(Object.entries(value).reverse());
    const given = reversed({
      ...fullCustomer,
      contacts: [reversed(contact)],
      sites: fullCustomer.sites.map(reversed),
    }) as typeof fullCustomer;
    const changed = await tablesChangedBy(engine, () => acme.apply({ change: 'customer.save', with: given }));
    t.strictSame(changed, []);
  });

  await t.test('is refused when two sites share an id', async (t) => {
    const acme = await openCompany();
    const sites = [site('site_1'), site('site_2'), site('site_3'), site('site_2'), site('site_1')];
    t.strictSame(await acme.refusal(customerSave({ sites })), {
      code: 'duplicate_id',
      path: '/with/sites/3/id',
      message: 'Two sites have the id "site_2".',
    });
  });

  await t.test('of an id that another company uses makes one of our own', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const other = await openCompany();
    const ours = await acme.record('customers', 'cus_1');
    const theirs = await other.apply(customerSave({ id: 'cus_1', name: 'Theirs' }));
    t.strictSame(await acme.record('customers', 'cus_1'), ours);
    t.strictSame(await other.record('customers', 'cus_1'), theirs);
  });
});

onEachEngine('customer.archive and customer.restore', async (t, { openCompany, setNow }) => {
  await t.test('change whether the customer is archived, and when it changed', async (t) => {
    const acme = await openCompany();
    const customer = await acme.apply(customerSave(fullCustomer));
    setNow('2026-11-20T13:00:00.000Z');
    const archived = await acme.apply(archive);
    t.strictSame(archived, { ...customer, archived: true, updatedAt: '2026-11-20T13:00:00.000Z' });
    t.strictSame(await acme.record('customers', 'cus_7'), archived);
    const restored = await acme.apply(restore);
    t.strictSame(restored, { ...customer, updatedAt: '2026-11-20T13:00:00.001Z' });
    t.strictSame(await acme.record('customers', 'cus_7'), restored);
    t.strictSame(await acme.events(), [], 'nothing is sent');
  });

  await t.test('are refused for what is so already and for what is not there', async (t) => {
    const acme = await openCompany();
    const other = await openCompany();
    await other.apply(customerSave({ id: 'cus_theirs' }));
    await acme.apply(customerSave(fullCustomer));
    t.strictSame(await acme.refusal(restore), {
      code: 'wrong_state',
      path: '/with/id',
      message: 'The customer "cus_7" isn\'t archived.',
    });
    await acme.apply(archive);
    t.strictSame(await acme.refusal(archive), {
      code: 'wrong_state',
      path: '/with/id',
      message: 'The customer "cus_7" is archived already.',
    });
    for (const change of ['customer.archive', 'customer.restore']) {
      for (const id of ['cus_none', 'cus_theirs']) {
        t.match(await acme.refusal({ change, with: { id } }), { code: 'unknown_record', path: '/with/id' });
      }
    }
  });
});
