import type { WithOf } from '../../../src/contract/feed.ts';
import { customerSave, jobCreate, openStaffedCompany, personSave } from './_changes.ts';
import { onEachEngine, tablesChangedBy, type TestCompany } from './_backoffice.ts';

/** The open job `job_1` with which every test of this file begins. It has a value for every member. */
const fullJob = {
  id: 'job_1',
  title: 'Replace the pump',
  statusLabelId: 'label_open',
  dates: ['2026-12-01', '2026-12-02'],
  assignedTo: ['per_2', 'per_1'],
  teamId: 'team_1',
  customerId: 'cus_1',
  jobTypeId: 'type_pump',
  jobTypeVersion: 3,
  customFields: {
    'Serial number': 'A-17',
    Pressure: -1.5,
    Warranty: true,
    Grant: null,
    Parts: ['seal', 'ring'],
  },
  notes: 'Ring twice.\nThe dog is friendly.',
  createdBy: 'per_1',
} satisfies WithOf<'job.create'>;

const createdAt = '2026-11-20T12:00:00.000Z';

/** The kinds and the data of the events that were sent since there were `count`. */
async function eventsSince(company: TestCompany, count: number): Promise<[kind: string, text: string][]> {
  return (await company.events()).slice(count).map(({ kind, text }) => [kind, text]);
}

async function textOf(company: TestCompany, id: string): Promise<string> {
  return (await company.texts('jobs', id))?.body ?? '';
}

onEachEngine('job.create', async (t, { openCompany, setNow }) => {
  await t.test('stores what is given, answers with it and sends job.created with it', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    setNow('2026-11-20T12:30:00.000Z');
    const answer = await acme.apply({ ...jobCreate(fullJob), at: '2026-11-20T13:00:00.25+01:00' });
    const { updatedAt, ...job } = answer;
    t.strictSame(job, {
      ...fullJob,
      completed: false,
      completedAt: null,
      createdAt: '2026-11-20T12:00:00.250Z',
    });
    t.equal(updatedAt, '2026-11-20T12:30:00.000Z');
    t.strictSame(await acme.record('jobs', 'job_1'), answer);
    t.strictSame(await eventsSince(acme, 0), [['job.created', await textOf(acme, 'job_1')]]);
    t.equal((await acme.events())[0]?.createdAt, updatedAt);
  });

  await t.test('leaves empty what is not given, and gives an id', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const { id, updatedAt, ...job } = await acme.apply(jobCreate());
    t.match(id, /^job_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    t.strictSame(job, {
      ...jobCreate().with,
      completed: false,
      completedAt: null,
      dates: [],
      assignedTo: [],
      teamId: null,
      customFields: {},
      notes: '',
      createdAt: '2026-11-20T12:30:00.000Z',
    });
    t.equal((await acme.record('jobs', id))?.updatedAt, updatedAt);
  });

  await t.test('keeps every character of a text', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const odd = 'é e\u0301 \u{1F525} "\\ud800" \\u0000 </script> \u2028 \uFFFF \u0001 \r\n\t\u007F';
    const given = {
      title: odd,
      notes: odd,
      customFields: { [odd]: odd, ['__proto__']: 'own', constructor: 1, '': 2 },
    };
    const { id, ...job } = await acme.apply(jobCreate(given));
    t.match(job, { title: odd, notes: odd });
    t.strictSame(Object.entries(job.customFields), Object.entries(given.customFields));
    t.strictSame((await acme.record('jobs', id))?.customFields, given.customFields);
  });

  await t.test('two companies may use the same id for a job', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const other = await openStaffedCompany(openCompany);
    await acme.apply(jobCreate({ id: 'job_1', title: 'Ours' }));
    await other.apply(jobCreate({ id: 'job_1', title: 'Theirs' }));
    t.equal((await acme.record('jobs', 'job_1'))?.title, 'Ours');
    t.equal((await other.record('jobs', 'job_1'))?.title, 'Theirs');
  });
});

onEachEngine('job.update', async (t, { openCompany, setNow, engine }) => {
  const changes: Omit<WithOf<'job.update'>, 'id'>[] = [
    { title: 'Replace the pumps' },
    { statusLabelId: 'label_waiting' },
    { dates: ['2026-12-02', '2026-12-01'] },
    { dates: [] },
    { assignedTo: ['per_1'] },
    { teamId: null },
    { customerId: 'cus_2' },
    { jobTypeId: 'type_other' },
    { jobTypeVersion: 4 },
    { customFields: { ...fullJob.customFields, Pressure: 0 } },
    { customFields: {} },
    { notes: '' },
    { title: 'Both', notes: 'changed' },
  ];

  await t.test('changes what is given, keeps the rest and sends job.updated', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    await acme.apply(customerSave({ id: 'cus_2' }));
    for (const [index, change] of changes.entries()) {
      const id = `job_${index}`;
      const job = await acme.apply(jobCreate({ ...fullJob, id }));
      const changed = await acme.apply({ change: 'job.update', with: { id, ...change } });
      t.strictSame(changed, { ...job, ...change, updatedAt: changed.updatedAt });
      t.ok(changed.updatedAt > job.updatedAt);
      t.strictSame(await acme.record('jobs', id), changed);
      t.strictSame(await eventsSince(acme, 2 * index + 1), [['job.updated', await textOf(acme, id)]]);
    }
  });

  await t.test('the same values change nothing at all, but are answered with the job', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const job = await acme.apply(jobCreate(fullJob));
    const { createdBy, ...same } = fullJob;
    t.equal(job.createdBy, createdBy);
    setNow('2026-11-21T12:00:00.000Z');
    for (const given of [{ id: 'job_1' }, { id: 'job_1', title: fullJob.title }, structuredClone(same)]) {
      const changed = await tablesChangedBy(engine, async () => {
        t.strictSame(await acme.apply({ change: 'job.update', with: given }), job);
      });
      t.strictSame(changed, []);
    }
  });

  await t.test('the same custom fields in another order change nothing', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    await acme.apply(jobCreate(fullJob));
    const customFields = Object.fromEntries(Object.entries(fullJob.customFields).reverse());
    const changed = await tablesChangedBy(engine, () =>
      acme.apply({ change: 'job.update', with: { id: 'job_1', customFields } }),
    );
    t.strictSame(changed, []);
  });

  await t.test('a person who was assigned and has left may stay, and may not come back', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    await acme.apply(jobCreate(fullJob));
    await acme.apply({ change: 'person.deactivate', with: { id: 'per_2' } });
    const assign = (assignedTo: string[]) =>
      ({ change: 'job.update', with: { id: 'job_1', assignedTo } }) as const;
    t.match(await acme.apply({ change: 'job.update', with: { id: 'job_1', notes: 'Later' } }), {
      notes: 'Later',
    });
    t.match(await acme.apply(assign(['per_1', 'per_2'])), { assignedTo: ['per_1', 'per_2'] });
    await acme.apply(assign(['per_1']));
    t.match(await acme.refusal(assign(['per_1', 'per_2'])), {
      code: 'unknown_record',
      path: '/with/assignedTo/1',
    });
    await acme.apply(personSave({ id: 'per_2' }));
    t.match(await acme.apply(assign(['per_2'])), { assignedTo: ['per_2'] });
  });
});

onEachEngine('job.complete and job.reopen', async (t, { openCompany, setNow }) => {
  await t.test('a completed job sends job.updated and then job.completed, both with the job', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const job = await acme.apply(jobCreate(fullJob));
    setNow('2026-11-20T16:00:00.000Z');
    const answer = await acme.apply({
      change: 'job.complete',
      with: { id: 'job_1' },
      at: '2026-11-20T15:30:00Z',
    });
    t.strictSame(answer, {
      ...job,
      completed: true,
      completedAt: '2026-11-20T15:30:00.000Z',
      updatedAt: '2026-11-20T16:00:00.000Z',
    });
    t.strictSame(await acme.record('jobs', 'job_1'), answer);
    const text = await textOf(acme, 'job_1');
    t.strictSame(await eventsSince(acme, 1), [
      ['job.updated', text],
      ['job.completed', text],
    ]);
    t.strictSame(
      (await acme.events()).slice(1).map((event) => event.createdAt),
      [answer.updatedAt, answer.updatedAt],
    );
  });

  await t.test('a job that is taken up again sends job.updated, and can be completed again', async (t) => {
    setNow(createdAt);
    const acme = await openStaffedCompany(openCompany);
    const job = await acme.apply(jobCreate(fullJob));
    await acme.apply({ change: 'job.complete', with: { id: 'job_1', statusLabelId: 'label_done' } });
    t.equal((await acme.record('jobs', 'job_1'))?.statusLabelId, 'label_done');
    const reopened = await acme.apply({
      change: 'job.reopen',
      with: { id: 'job_1', statusLabelId: 'label_open' },
    });
    t.strictSame(reopened, { ...job, updatedAt: reopened.updatedAt });
    const text = await textOf(acme, 'job_1');
    t.strictSame(await eventsSince(acme, 3), [['job.updated', text]]);
    await acme.apply({ change: 'job.complete', with: { id: 'job_1' } });
    await acme.apply({ change: 'job.reopen', with: { id: 'job_1' } });
    t.match(await acme.record('jobs', 'job_1'), {
      completed: false,
      completedAt: null,
      statusLabelId: 'label_open',
    });
    t.strictSame(
      (await eventsSince(acme, 4)).map(([kind]) => kind),
      ['job.updated', 'job.completed', 'job.updated'],
    );
  });
});

onEachEngine('a job', async (t, { openCompany }) => {
  const acme = await openStaffedCompany(openCompany);
  await acme.apply(jobCreate({ id: 'job_open' }));
  await acme.apply(jobCreate({ id: 'job_done' }));
  await acme.apply({ change: 'job.complete', with: { id: 'job_done' } });
  await acme.apply(personSave({ id: 'per_left' }));
  await acme.apply({ change: 'person.deactivate', with: { id: 'per_left' } });
  const other = await openStaffedCompany(openCompany);
  await other.apply(personSave({ id: 'per_theirs' }));
  await other.apply(customerSave({ id: 'cus_theirs' }));
  await other.apply(jobCreate({ id: 'job_theirs' }));

  const update = (given: object) => ({ change: 'job.update', with: { id: 'job_open', ...given } });
  const refused: [code: string, path: string, change: object][] = [
    ['duplicate_id', '/with/id', jobCreate({ id: 'job_open' })],
    ['unknown_record', '/with/customerId', jobCreate({ customerId: 'cus_none' })],
    ['unknown_record', '/with/customerId', jobCreate({ customerId: 'cus_theirs' })],
    ['unknown_record', '/with/createdBy', jobCreate({ createdBy: 'per_none' })],
    ['unknown_record', '/with/createdBy', jobCreate({ createdBy: 'per_theirs' })],
    ['unknown_record', '/with/createdBy', jobCreate({ createdBy: 'per_left' })],
    ['unknown_record', '/with/assignedTo/0', jobCreate({ assignedTo: ['per_theirs'] })],
    ['unknown_record', '/with/assignedTo/2', jobCreate({ assignedTo: ['per_1', 'per_2', 'per_left'] })],
    ['unknown_record', '/with/id', { change: 'job.update', with: { id: 'job_none' } }],
    ['unknown_record', '/with/id', { change: 'job.update', with: { id: 'job_theirs', notes: '' } }],
    ['unknown_record', '/with/customerId', update({ customerId: 'cus_theirs' })],
    ['unknown_record', '/with/assignedTo/1', update({ assignedTo: ['per_1', 'per_theirs'] })],
    ['unknown_record', '/with/assignedTo/0', update({ assignedTo: ['per_left'] })],
    ['unknown_record', '/with/id', { change: 'job.complete', with: { id: 'job_theirs' } }],
    ['wrong_state', '/with/id', { change: 'job.complete', with: { id: 'job_done' } }],
    ['unknown_record', '/with/id', { change: 'job.reopen', with: { id: 'job_theirs' } }],
    ['wrong_state', '/with/id', { change: 'job.reopen', with: { id: 'job_open' } }],
  ];
  for (const [code, path, change] of refused) {
    await t.test(`is refused as ${code} for ${path} in ${JSON.stringify(change)}`, async (t) => {
      const refusal = await acme.refusal(change);
      t.match(refusal, { code, path });
      t.match(refusal.message, `"${valueAt(change, path)}"`, 'the message names the value');
    });
  }
});

function valueAt(change: object, path: string): string {
  let value: unknown = change;
  for (const name of path.split('/').slice(1)) value = (value as Record<string, unknown>)[name];
  return String(value);
}
