/* The model says what moves of people, customers, forms and jobs lead to (test/model); here is what it doesn't draw. */
import type { ChangeContent } from '../../../src/contract/feed.ts';
import { without } from '../../model/_model.ts';
import { customerSave, formSave, jobCreate, openStaffedCompany, personSave, siteOf } from './_changes.ts';
import { onSqlite, tablesChangedBy } from './_backoffice.ts';

/** A job that has a value for every member. */
const fullJob = {
  ...{ id: 'job_1', title: 'Replace the pump', notes: 'Ring twice.\nThe dog is friendly.' },
  ...{ statusLabelId: 'label_open', dates: ['2026-12-01', '2026-12-02'], assignedTo: ['per_2', 'per_1'] },
  ...{ teamId: 'team_1', customerId: 'cus_1', createdBy: 'per_1', jobTypeId: 'type_pump', jobTypeVersion: 3 },
  customFields: {
    ...{ 'Serial number': 'A-17', Pressure: -1.5, Warranty: true, Grant: null },
    Parts: ['seal', 'ring'],
  },
} satisfies ChangeContent<'job.create'>;

/** A customer that has a value for every member. */
const fullCustomer = {
  ...{ id: 'cus_7', name: 'Castlemore', legalName: 'Castlemore Construction Limited' },
  ...{ addressLines: ['Castlemore House'], countryCode: 'IE', vatId: 'IE6388047V' },
  ...{ email: 'accounts@castlemore.example', contactName: 'Niamh Daly' },
  ...{ currency: 'EUR', paymentTermsDays: 14 },
  contacts: [{ name: 'Niamh Daly', email: null, phone: '1', role: 'Accounts', isBilling: true }],
  sites: [siteOf('site_1'), siteOf('site_2')],
} satisfies ChangeContent<'customer.save'>;

const fields = [
  { id: 'fld_1', type: 'yesno', label: 'Is it safe?' },
  { id: 'fld_2', type: 'photo', label: 'Picture' },
];

onSqlite(
  'a job is stored as it is given, and its events carry the text that is stored',
  async (t, office) => {
    const { openCompany, setNow } = office;
    const acme = await openStaffedCompany(openCompany);
    setNow('2026-11-20T12:30:00.000Z');
    const created = await acme.apply({ ...jobCreate(fullJob), at: '2026-11-20T13:00:00.25+01:00' });
    const times = { createdAt: '2026-11-20T12:00:00.250Z', updatedAt: '2026-11-20T12:30:00.000Z' };
    t.strictSame(created, { ...fullJob, completed: false, completedAt: null, ...times });
    const first = (await acme.texts('jobs', 'job_1'))?.body;
    setNow('2026-11-20T16:00:00.000Z');
    const complete = { change: 'job.complete', with: { id: 'job_1' }, at: '2026-11-20T15:30:00Z' } as const;
    const { updatedAt } = await acme.apply(complete);
    const second = (await acme.texts('jobs', 'job_1'))?.body;
    const events = (await acme.events()).map(({ kind, text, createdAt }) => [kind, text, createdAt]);
    t.strictSame(events, [
      ['job.created', first, created.updatedAt],
      ['job.updated', second, updatedAt],
      ['job.completed', second, updatedAt],
    ]);
  },
);

onSqlite('a job keeps every character of a text', async (t, { openCompany }) => {
  const acme = await openStaffedCompany(openCompany);
  const odd = 'é e\u0301 \u{1F525} "\\ud800" \\u0000 </script> \u2028 \uFFFF \u0001 \r\n\t\u007F';
  const customFields = { [odd]: odd, ['__proto__']: 'own', constructor: 1, '': 2 };
  const { id, ...job } = await acme.apply(jobCreate({ title: odd, notes: odd, customFields }));
  t.match(job, { title: odd, notes: odd });
  t.strictSame(Object.entries(job.customFields), Object.entries(customFields));
  t.strictSame((await acme.record('jobs', id))?.customFields, customFields);
});

/** A value whose members come in the opposite order, at every depth. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, one]) => [name, reversed(one)] as const);
  return Object.fromEntries(members.reverse());
}

onSqlite('what is so already is answered and not changed, in whatever order it comes', async (t, office) => {
  const { openCompany, engine, setNow } = office;
  const acme = await openStaffedCompany(openCompany);
  for (const [made, again] of [
    [jobCreate(fullJob), { change: 'job.update', with: without(fullJob, 'createdBy') }],
    [customerSave(fullCustomer), customerSave(fullCustomer)],
    [formSave({ id: 'frm_1', fields }), formSave({ id: 'frm_1', fields })],
  ] as const) {
    const record: object = await acme.apply(made);
    setNow('2026-11-21T12:00:00.000Z');
    for (const same of [structuredClone(again), reversed(again) as typeof again]) {
      const save = async () => t.strictSame(await acme.apply(same), record, same.change);
      t.strictSame(await tablesChangedBy(engine, save), []);
    }
  }
});

onSqlite('a customer in a country of no list is refused, by its path', async (t, { openCompany }) => {
  const acme = await openCompany();
  for (const code of ['UK', 'EL', 'XK', 'QQ']) {
    const { path, message } = await acme.refusal(customerSave({ countryCode: code }));
    t.equal(
      `${path}: ${message}`,
      `/with/countryCode: countryCode is "${code}", which isn't a code of ISO 3166-1.`,
    );
  }
  const sites = [siteOf('site_1'), { ...siteOf('site_2'), countryCode: 'UK' }];
  t.match(await acme.refusal(customerSave({ sites })), { path: '/with/sites/1/countryCode' });
  t.match(await acme.apply(customerSave({ countryCode: 'XI' })), { countryCode: 'XI' });
});

onSqlite('what can’t be done to a record is refused, and named', async (t, { openCompany }) => {
  const [acme, other] = [await openStaffedCompany(openCompany), await openCompany()];
  await other.apply(personSave({ id: 'per_theirs' }));
  await acme.apply(customerSave(fullCustomer));
  for (const id of ['frm_1', 'frm_2']) await acme.apply(formSave({ id, fields }));
  await acme.apply(jobCreate({ id: 'job_1' }));
  await acme.apply({ change: 'person.deactivate', with: { id: 'per_2' } });
  const changeOf = (change: string, id: string) => ({ change, with: { id } });
  const refuse = async (refused: [change: object, code: string, path: string, message: string][]) => {
    for (const [change, code, path, message] of refused)
      t.strictSame(await acme.refusal(change), { code, path: `/with/${path}`, message }, message);
  };
  const sites = ['site_1', 'site_2', 'site_3', 'site_2', 'site_1'].map(siteOf);
  const twins = [...fields, ...fields];
  const submit = { change: 'form.submit', with: { formId: 'frm_2', submittedBy: 'per_1' } };
  await refuse([
    [customerSave({ sites }), 'duplicate_id', 'sites/3/id', 'Two sites have the id "site_2".'],
    [formSave({ fields: twins }), 'duplicate_id', 'fields/2/id', 'Two fields have the id "fld_1".'],
    [submit, 'wrong_state', 'formId', 'The form "frm_2" isn\'t published.'],
    [changeOf('customer.restore', 'cus_7'), 'wrong_state', 'id', 'The customer "cus_7" isn\'t archived.'],
    [changeOf('job.reopen', 'job_1'), 'wrong_state', 'id', 'The job "job_1" isn\'t completed.'],
  ]);
  const told = (await acme.events()).length;
  await acme.apply({ change: 'customer.archive', with: { id: 'cus_7' } });
  await acme.apply({ change: 'form.publish', with: { id: 'frm_1' } });
  t.equal((await acme.events()).length, told, 'nothing is sent');
  await acme.apply({ change: 'job.complete', with: { id: 'job_1' } });
  await refuse([
    [changeOf('customer.archive', 'cus_7'), 'wrong_state', 'id', 'The customer "cus_7" is archived already.'],
    [changeOf('form.publish', 'frm_1'), 'wrong_state', 'id', 'The form "frm_1" is already published.'],
    [changeOf('job.complete', 'job_1'), 'wrong_state', 'id', 'The job "job_1" is completed already.'],
  ]);
  for (const id of ['per_none', 'per_2', 'per_theirs', 'cus_1']) {
    const message = `There is no record with the id "${id}" among the company's people.`;
    await refuse([[changeOf('person.deactivate', id), 'unknown_record', 'id', message]]);
  }
});
