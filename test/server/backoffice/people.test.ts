import { openStaffedCompany, personSave } from './_changes.ts';
import { onSqlite } from './_backoffice.ts';

onSqlite('person.save gives an id to a person who comes without one', async (t, { openCompany }) => {
  const { id, ...person } = await (await openCompany()).apply(personSave());
  t.match(id, /^per_[0-9a-f]{8}-[0-9a-f]{4}-7/);
  t.strictSame(person, { ...personSave().with, status: 'active', jobTitle: null, teamId: null });
});

onSqlite('person.deactivate is refused for nobody, for who has left and for others', async (t, office) => {
  const [acme, other] = [await openStaffedCompany(office.openCompany), await office.openCompany()];
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
