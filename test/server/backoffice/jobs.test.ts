import type { WithOf } from '../../../src/contract/feed.ts';
import { without } from '../../model/_model.ts';
import { jobCreate, openStaffedCompany } from './_changes.ts';
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
} satisfies WithOf<'job.create'>;

onSqlite('a job', async (t, { openCompany, setNow, engine }) => {
  const completed = { completed: true, completedAt: '2026-11-20T15:30:00.000Z' };

  await t.test('is stored as it is given, and its events carry the text that is stored', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    setNow('2026-11-20T12:30:00.000Z');
    const created = await acme.apply({ ...jobCreate(fullJob), at: '2026-11-20T13:00:00.25+01:00' });
    const times = { createdAt: '2026-11-20T12:00:00.250Z', updatedAt: '2026-11-20T12:30:00.000Z' };
    t.strictSame(created, { ...fullJob, completed: false, completedAt: null, ...times });
    const first = (await acme.texts('jobs', 'job_1'))?.body;
    setNow('2026-11-20T16:00:00.000Z');
    const complete = { change: 'job.complete', with: { id: 'job_1' }, at: '2026-11-20T15:30:00Z' } as const;
    const after = await acme.apply(complete);
    t.strictSame(after, { ...created, ...completed, updatedAt: '2026-11-20T16:00:00.000Z' });
    const second = (await acme.texts('jobs', 'job_1'))?.body;
    const events = (await acme.events()).map(({ kind, text, createdAt }) => [kind, text, createdAt]);
    t.strictSame(events, [
      ['job.created', first, created.updatedAt],
      ['job.updated', second, after.updatedAt],
      ['job.completed', second, after.updatedAt],
    ]);
    t.strictSame(await acme.record('jobs', 'job_1'), after);
  });

  await t.test('gets an id, and is empty where nothing is given', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const { id, createdAt, updatedAt, ...job } = await acme.apply(jobCreate());
    t.match(id, /^job_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    t.ok(createdAt <= updatedAt);
    t.strictSame(job, {
      ...jobCreate().with,
      ...{ completed: false, completedAt: null, dates: [], assignedTo: [], teamId: null },
      ...{ customFields: {}, notes: '' },
    });
  });

  await t.test('keeps every character of a text', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const odd = 'é e\u0301 \u{1F525} "\\ud800" \\u0000 </script> \u2028 \uFFFF \u0001 \r\n\t\u007F';
    const customFields = { [odd]: odd, ['__proto__']: 'own', constructor: 1, '': 2 };
    const { id, ...job } = await acme.apply(jobCreate({ title: odd, notes: odd, customFields }));
    t.match(job, { title: odd, notes: odd });
    t.strictSame(Object.entries(job.customFields), Object.entries(customFields));
    t.strictSame((await acme.record('jobs', id))?.customFields, customFields);
  });

  await t.test('that is so already is answered and not changed, in whatever order it comes', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const job = await acme.apply(jobCreate(fullJob));
    const customFields = Object.fromEntries(Object.entries(fullJob.customFields).reverse());
    const same = without(fullJob, 'createdBy');
    for (const given of [{ id: 'job_1' }, structuredClone(same), { id: 'job_1', customFields }]) {
      const update = async () => t.strictSame(await acme.apply({ change: 'job.update', with: given }), job);
      t.strictSame(await tablesChangedBy(engine, update), []);
    }
  });

  await t.test('of the company is another company’s of the same id not', async (t) => {
    const [acme, other] = [await openStaffedCompany(openCompany), await openStaffedCompany(openCompany)];
    await acme.apply(jobCreate({ id: 'job_1', title: 'Ours' }));
    await other.apply(jobCreate({ id: 'job_1', title: 'Theirs' }));
    t.equal((await acme.record('jobs', 'job_1'))?.title, 'Ours');
  });

  await t.test('in another state is refused, and named', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    await acme.apply(jobCreate({ id: 'job_1' }));
    const refused = { code: 'wrong_state', path: '/with/id' };
    const [complete, reopen] = ['job.complete', 'job.reopen'].map((change) => ({
      change,
      with: { id: 'job_1' },
    }));
    t.match(await acme.refusal(reopen ?? {}), { ...refused, message: 'The job "job_1" isn\'t completed.' });
    await acme.apply({ change: 'job.complete', with: { id: 'job_1' } });
    t.match(await acme.refusal(complete ?? {}), {
      ...refused,
      message: 'The job "job_1" is completed already.',
    });
  });
});
