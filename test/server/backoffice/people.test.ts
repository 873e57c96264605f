import { jobCreate, openStaffedCompany, personSave } from './_changes.ts';
import { onEachEngine, tablesChangedBy } from './_backoffice.ts';

onEachEngine('person.save', async (t, { openCompany, engine, setNow }) => {
  await t.test('stores what is given, and null for what is not', async (t) => {
    const acme = await openCompany();
    const given = { id: 'per_7', jobTitle: 'Gas engineer', teamId: 'team_1' };
    const full = await acme.apply(personSave(given));
    t.strictSame(full, { ...personSave().with, ...given, status: 'active' });
    t.strictSame(await acme.record('people', 'per_7'), full);
    const { id, ...bare } = await acme.apply(personSave());
    t.match(id, /^per_[0-9a-f]{8}-[0-9a-f]{4}-7/);
    t.strictSame(bare, { ...personSave().with, status: 'active', jobTitle: null, teamId: null });
  });

  await t.test('replaces a person as a whole', async (t) => {
    const acme = await openCompany();
    await acme.apply(personSave({ id: 'per_1', jobTitle: 'Gas engineer', teamId: 'team_1' }));
    const person = await acme.apply(personSave({ id: 'per_1', displayName: 'Aoife Byrne-Kelly' }));
    t.match(person, { displayName: 'Aoife Byrne-Kelly', jobTitle: null, teamId: null });
    t.strictSame(await acme.record('people', 'per_1'), person);
  });

  await t.test('changes nothing when the person is as given already', async (t) => {
    const acme = await openCompany();
    await acme.apply(personSave({ id: 'per_1', teamId: 'team_1' }));
    setNow('2026-11-21T12:00:00.000Z');
    const save = () => acme.apply(personSave({ id: 'per_1', teamId: 'team_1' }));
    t.strictSame(await tablesChangedBy(engine, save), []);
  });

  await t.test('sends nothing', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    await acme.apply({ change: 'person.deactivate', with: { id: 'per_2' } });
    t.strictSame(await acme.events(), []);
  });
});

onEachEngine('person.deactivate', async (t, { openCompany, engine }) => {
  await t.test('takes the person away, and nothing that they made', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const job = await acme.apply(jobCreate({ id: 'job_1', createdBy: 'per_2', assignedTo: ['per_2'] }));
    const deactivate = async () => {
      t.equal(await acme.apply({ change: 'person.deactivate', with: { id: 'per_2' } }), null);
    };
    t.strictSame(await tablesChangedBy(engine, deactivate), ['people']);
    t.equal(await acme.record('people', 'per_2'), undefined);
    t.strictSame(await acme.record('jobs', 'job_1'), job);
  });

  await t.test('of a person with the same id leaves the other company its own', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const other = await openStaffedCompany(openCompany);
    await acme.apply({ change: 'person.deactivate', with: { id: 'per_1' } });
    t.ok(await other.record('people', 'per_1'));
  });

  await t.test('lets the person be active again under the same id', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const before = await acme.record('people', 'per_1');
    await acme.apply({ change: 'person.deactivate', with: { id: 'per_1' } });
    await acme.apply(personSave({ id: 'per_1' }));
    t.strictSame(await acme.record('people', 'per_1'), before);
  });

  await t.test('is refused for nobody, for who has left and for who is of another company', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const other = await openStaffedCompany(openCompany);
    await acme.apply({ change: 'person.deactivate', with: { id: 'per_2' } });
    await other.apply(personSave({ id: 'per_theirs' }));
    for (const id of ['per_none', 'per_2', 'per_theirs', 'cus_1']) {
      t.strictSame(await acme.refusal({ change: 'person.deactivate', with: { id } }), {
        code: 'unknown_record',
        path: '/with/id',
        message: `There is no record with the id "${id}" among the company's people.`,
      });
    }
  });
});
