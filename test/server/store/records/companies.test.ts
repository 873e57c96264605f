import { createCompany, setCompany } from '../../../../src/server/backoffice/companies.ts';
import {
  type Administrator,
  findAccount,
  findAccountsOf,
  insertAdministrator,
  updateAdministratorRow,
} from '../../../../src/server/store/accounts/administrator-rows.ts';
import {
  type Company,
  getCompany,
  listCompanies,
  updateCompanyRow,
} from '../../../../src/server/store/records/companies.ts';
import { STORY_NOW } from '../../../_server.ts';
import { attemptAtOnce, onEachStore, openSeveral } from '../_stores.ts';

onEachStore('companies come back as they were made, in the order of their ids', async (t, { engine }) => {
  const given = {
    name: 'Zoë & "Sons" 🔧',
    modules: ['quotes', 'jobs'] as const,
    profile: { legalName: 'Zoë Ltd', addressLines: ['1 Main Street', 'Tír na nÓg'], iban: "IE'); --" },
  };
  const ids = ['b', 'a-1', 'b-2', 'a', '0'];
  for (const id of ids) await createCompany(engine, id, { ...given, modules: [...given.modules] }, STORY_NOW);
  const listed = await listCompanies(engine);
  t.strictSame(
    listed.map(({ id }) => id),
    ['0', 'a', 'a-1', 'b', 'b-2'],
    'byte by byte, on both engines',
  );
  t.strictSame(await getCompany(engine, 'a-1'), listed[2]);
  t.strictSame(listed[2], {
    id: 'a-1',
    ...given,
    ...{ apiEnabled: true, subscriptionActive: true, invoicingEnabled: true },
    ...{ timeZone: 'Europe/Dublin', currency: 'EUR', createdAt: STORY_NOW.toISOString() },
    ...{ issuedElsewhere: [], handOver: false, secondFactorRequired: false },
  });
  await t.rejects(getCompany(engine, 'nobody'), { message: 'There is no company "nobody".' });
});

onEachStore('of two that create the same company at once one is told so', async (t, { engine }) => {
  const create = () => createCompany(engine, 'acme', {}, STORY_NOW);
  const { created, refusals } = await attemptAtOnce([engine], 3, create);
  t.equal(created.length, 1);
  t.strictSame(refusals.map(String), Array(2).fill('UsageError: The company "acme" already exists.'));
});

onEachStore('changes made at once by several processes all stay', async (t, { engine, url }) => {
  await createCompany(engine, 'acme', {}, STORY_NOW);
  await using processes = await openSeveral(url, 4);
  const changes = [
    { name: 'Acme' },
    { apiEnabled: false },
    { currency: 'GBP' },
    { profile: { phone: '1' } },
    { profile: { email: 'a@b.example' } },
    { timeZone: 'Europe/London' },
    { invoicingEnabled: false },
    { profile: { website: 'https://b.example' } },
  ];
  await Promise.all(
    changes.map((change, index) => setCompany(processes.engines[index % 4] ?? engine, 'acme', change)),
  );
  t.match(await getCompany(engine, 'acme'), {
    ...Object.assign({}, ...changes),
    profile: { phone: '1', email: 'a@b.example', website: 'https://b.example' },
  });
});

onEachStore('a change that is refused leaves the company as it was', async (t, { engine }) => {
  const before = await createCompany(engine, 'acme', { name: 'Acme' }, STORY_NOW);
  await t.rejects(setCompany(engine, 'acme', { name: 'New', currency: 'XXXX' }), {
    message: '"XXXX" is not an ISO 4217 currency code such as EUR.',
  });
  const update = (id: string, change: (company: Company) => Company) =>
    engine.transaction((transaction) => updateCompanyRow(transaction, id, change));
  const fault = update('acme', () => {
    throw new Error('No.');
  });
  await t.rejects(fault, new Error('No.'));
  t.strictSame(await getCompany(engine, 'acme'), before);
  t.equal(await update('nobody', (company) => company), undefined);
});

const NOW = STORY_NOW.toISOString();

function administratorOf(company: string, id: string): Administrator {
  return {
    ...{ id, company, email: 'jane@example.com', name: 'Jane', scopes: ['jobs:read'], mayInvite: false },
    ...{
      madeBy: null,
      createdAt: NOW,
      signedInAt: null,
      disabledAt: null,
      hasPassword: true,
      hasSecondFactor: false,
    },
  };
}

onEachStore('an email address has one account in each company', async (t, { engine }) => {
  for (const company of ['acme', 'other']) await createCompany(engine, company, {}, STORY_NOW);
  const insert = (company: string, id: string) =>
    engine.transaction((transaction) =>
      insertAdministrator(transaction, administratorOf(company, id), 'hash'),
    );
  const outcomes = await Promise.all([insert('acme', 'a'), insert('other', 'b'), insert('acme', 'c')]);
  t.equal(outcomes.filter(Boolean).length, 2);
  t.ok(outcomes[1], 'the other company has its own');
  const idsOf = async ({ company, email }: { email: string; company?: string }) => {
    const found =
      company === undefined
        ? await findAccountsOf(engine, email)
        : [await findAccount(engine.db, { company, email })];
    return found.flatMap((account) => account?.administrator.id ?? []);
  };
  const [first = ''] = await idsOf({ company: 'acme', email: 'jane@example.com' });
  t.match(await findAccount(engine.db, { company: 'acme', id: first }), { password: 'hash' });
  t.equal(await findAccount(engine.db, { company: 'other', id: first }), undefined);
  await engine.transaction((transaction) =>
    updateAdministratorRow(transaction, { company: 'acme', id: first }, { disabledAt: NOW }),
  );
  t.strictSame(await idsOf({ email: 'jane@example.com' }), ['b'], 'who was disabled may not sign in');
  t.ok(await insert('acme', 'd'), 'and leaves the address to others');
  t.strictSame(await idsOf({ email: 'jane@example.com' }), ['b', 'd']);
});
