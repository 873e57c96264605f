import { applyChange, applyTogether } from '../../../src/server/backoffice/apply.ts';
import { type Backoffice, openBackoffice } from '../../../src/server/backoffice/backoffice.ts';
import type { WithOf } from '../../../src/contract/feed.ts';
import type { Job } from '../../../src/contract/records.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { STORY_NOW } from '../../_server.ts';
import { jobCreate, openStaffedCompany, personSave } from './_changes.ts';
import { type Given, onEachEngine, recordIn, type TestBackoffice } from './_backoffice.ts';

/** Back offices of other processes, as it were, on the same database; their clocks disagree by minutes. */
async function openBackoffices({
  url,
  engine,
}: TestBackoffice): Promise<{ backoffices: Backoffice[] } & AsyncDisposable> {
  // A second process shares a SQLite file at most while it takes over; PostgreSQL serves many.
  const count = engine.dialect.name === 'sqlite' ? 2 : 4;
  const engines = await Promise.all(Array.from({ length: count }, () => openEngine(url, { poolMax: 4 })));
  const backoffices = engines.map((opened, index) =>
    openBackoffice(opened, { now: () => new Date(STORY_NOW.getTime() + (index % 3) * 60_000) }),
  );
  return {
    backoffices,
    async [Symbol.asyncDispose]() {
      await Promise.all(engines.map((opened) => opened[Symbol.asyncDispose]()));
    },
  };
}

onEachEngine('moves of one company from several processes', async (t, testBackoffice) => {
  await using others = await openBackoffices(testBackoffice);
  const { backoffices } = others;
  const backofficeOf = (index: number) =>
    backoffices[index % backoffices.length] ?? testBackoffice.backoffice;

  await t.test('are all made, and each has a stamp and ids of its own', async (t) => {
    const acme = await openStaffedCompany(testBackoffice.openCompany);
    const jobs = await Promise.all(
      Array.from({ length: 60 }, async (_, index) =>
        recordIn<Job>(await applyChange(backofficeOf(index), { company: acme.id, ...jobCreate() })),
      ),
    );
    t.equal(new Set(jobs.map(({ id }) => id)).size, 60);
    t.equal(new Set(jobs.map(({ updatedAt }) => updatedAt)).size, 60);
    const stamped = jobs.toSorted((a, b) => (a.updatedAt < b.updatedAt ? -1 : 1)).map(({ id }) => id);
    t.strictSame(stamped.toSorted(), stamped, 'ids are in the order of the stamps');
    t.strictSame(
      (await acme.events()).map(({ data }) => data.id),
      stamped,
      'and so are the events',
    );
    for (const job of jobs) t.strictSame(await acme.record('jobs', job.id), job);
  });

  await t.test('to one record lose nothing of each other', async (t) => {
    const acme = await openStaffedCompany(testBackoffice.openCompany);
    const job = await acme.apply(jobCreate({ id: 'job_1' }));
    const changes: Omit<WithOf<'job.update'>, 'id'>[] = [
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
    await Promise.all(
      changes.map((change, index) =>
        applyChange(backofficeOf(index), {
          company: acme.id,
          change: 'job.update',
          with: { id: 'job_1', ...change },
        }),
      ),
    );
    const { updatedAt, ...changed } = (await acme.record('jobs', 'job_1')) ?? job;
    t.strictSame({ ...changed, updatedAt: job.updatedAt }, Object.assign(job, ...changes));
    const events = await acme.events();
    t.equal(events.length, 1 + changes.length);
    t.equal(events.at(-1)?.data['updatedAt'], updatedAt);
  });

  await t.test('with one id are made once', async (t) => {
    const acme = await openStaffedCompany(testBackoffice.openCompany);
    const change = { company: acme.id, id: 'feed/1', ...jobCreate() };
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, index) => applyChange(backofficeOf(index), change)),
    );
    t.strictSame(outcomes.map(({ status }) => status).sort(), [
      'applied',
      ...Array<string>(11).fill('skipped'),
    ]);
    t.equal((await acme.events()).length, 1);
  });

  await t.test('in one state are made by the first, and refused to the others', async (t) => {
    const acme = await openStaffedCompany(testBackoffice.openCompany);
    await acme.apply(jobCreate({ id: 'job_1' }));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) =>
        applyChange(backofficeOf(index), { company: acme.id, change: 'job.complete', with: { id: 'job_1' } }),
      ),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    t.equal(refused.length, 11);
    t.ok(refused.every(({ reason }) => (reason as { code?: string }).code === 'wrong_state'));
    t.strictSame(
      (await acme.events()).map(({ kind }) => kind),
      ['job.created', 'job.updated', 'job.completed'],
    );
  });
});

onEachEngine('batches that move the same companies in opposite orders', async (t, testBackoffice) => {
  await using others = await openBackoffices(testBackoffice);
  const { backoffices } = others;
  const companies = [
    await openStaffedCompany(testBackoffice.openCompany),
    await openStaffedCompany(testBackoffice.openCompany),
  ];
  const batch = (order: typeof companies, change: Given<'person.save'>) =>
    order.map(({ id: company }) => ({ company, ...change }));
  const outcomes = await Promise.allSettled(
    Array.from({ length: 12 }, (_, index) => {
      const order = index % 2 === 0 ? companies : companies.toReversed();
      return applyTogether(
        backoffices[index % backoffices.length] ?? testBackoffice.backoffice,
        batch(order, personSave()),
      );
    }),
  );
  t.strictSame(
    outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : [])),
    [],
    'are all made',
  );
});
