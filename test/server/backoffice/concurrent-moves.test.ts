import { applyChange, applyChangesAtomically } from '../../../src/server/backoffice/apply.ts';
import type { ChangeContent } from '../../../src/contract/feed.ts';
import type { Job } from '../../../src/contract/records.ts';
import { jobCreate, openStaffedCompany, personSave } from './_changes.ts';
import { onEachEngine, openBackoffices, recordIn } from './_backoffice.ts';

onEachEngine('moves of one company from several processes', async (t, office) => {
  await using others = await openBackoffices(office);
  const { backofficeOf } = others;

  await t.test('are all made, and each has a stamp and ids of its own', async (t) => {
    const acme = await openStaffedCompany(office.openCompany);
    const jobs = await Promise.all(
      Array.from({ length: 32 }, async (_, index) =>
        recordIn<Job>(await applyChange(backofficeOf(index), { company: acme.id, ...jobCreate() })),
      ),
    );
    t.equal(new Set(jobs.map(({ id }) => id)).size, 32);
    t.equal(new Set(jobs.map(({ updatedAt }) => updatedAt)).size, 32);
    const stamped = jobs.toSorted((a, b) => (a.updatedAt < b.updatedAt ? -1 : 1)).map(({ id }) => id);
    t.strictSame(stamped.toSorted(), stamped, 'ids are in the order of the stamps');
    const events = (await acme.events()).map(({ data }) => data.id);
    t.strictSame(events, stamped, 'and so are the events');
    for (const job of jobs) t.strictSame(await acme.record('jobs', job.id), job);
  });

  await t.test('to one record lose nothing of each other', async (t) => {
    const acme = await openStaffedCompany(office.openCompany);
    const job = await acme.apply(jobCreate({ id: 'job_1' }));
    const changes: Omit<ChangeContent<'job.update'>, 'id'>[] = [
      { title: 'Another title' },
      { statusLabelId: 'label_2' },
      { dates: ['2026-12-01'] },
      { assignedTo: ['per_2'] },
      { teamId: 'team_1' },
      { jobTypeId: 'type_2' },
      { jobTypeVersion: 2 },
      { customFields: { Key: 'under the mat' } },
      { notes: 'Ring twice.' },
    ];
    const update = (index: number, given: object) =>
      applyChange(backofficeOf(index), {
        ...{ company: acme.id, change: 'job.update' },
        with: { id: 'job_1', ...given },
      });
    await Promise.all(changes.map((given, index) => update(index, given)));
    const { updatedAt, ...changed } = (await acme.record('jobs', 'job_1')) ?? job;
    t.strictSame({ ...changed, updatedAt: job.updatedAt }, Object.assign(job, ...changes));
    const events = await acme.events();
    t.equal(events.length, 1 + changes.length);
    t.equal(events.at(-1)?.data['updatedAt'], updatedAt);
  });

  await t.test('with one id are made once', async (t) => {
    const acme = await openStaffedCompany(office.openCompany);
    const change = { company: acme.id, id: 'feed/1', ...jobCreate() };
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, index) => applyChange(backofficeOf(index), change)),
    );
    const statuses = outcomes.map(({ status }) => status).sort();
    t.strictSame(statuses, ['applied', ...Array<string>(11).fill('skipped')]);
    t.equal((await acme.events()).length, 1);
  });

  await t.test('in one state are made by the first, and refused to the others', async (t) => {
    const acme = await openStaffedCompany(office.openCompany);
    await acme.apply(jobCreate({ id: 'job_1' }));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) =>
        applyChange(backofficeOf(index), { company: acme.id, change: 'job.complete', with: { id: 'job_1' } }),
      ),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    t.equal(refused.length, 11);
    t.ok(refused.every(({ reason }) => (reason as { code?: string }).code === 'wrong_state'));
    const kinds = (await acme.events()).map(({ kind }) => kind);
    t.strictSame(kinds, ['job.created', 'job.updated', 'job.completed']);
  });
});

onEachEngine('batches that move the same companies in opposite orders', async (t, office) => {
  await using others = await openBackoffices(office);
  const companies = [
    await openStaffedCompany(office.openCompany),
    await openStaffedCompany(office.openCompany),
  ];
  const outcomes = await Promise.allSettled(
    Array.from({ length: 12 }, (_, index) => {
      const order = index % 2 === 0 ? companies : companies.toReversed();
      const batch = order.map(({ id: company }) => ({ company, ...personSave() }));
      return applyChangesAtomically(others.backofficeOf(index), batch);
    }),
  );
  const failed = outcomes.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
  t.strictSame(failed, [], 'are all made');
});
