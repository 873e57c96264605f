import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import fc from 'fast-check';
import t from 'tap';

import { changeNames } from '../../src/contract/feed.ts';
import type { Resource } from '../../src/contract/records.ts';
import { generateCompany } from '../../src/demo/generate-company.ts';
import { STORY_NOW } from '../_server.ts';
import { byId, generate, generatedCompany, nowText } from './_company.ts';

const { changes, all, company } = await generatedCompany();

t.test('the history is told by moves, in the order of time, each with an id', async (t) => {
  const times = changes.map(({ at }) => at);
  t.strictSame(times, [...new Set(times)].sort());
  t.equal(new Set(changes.map(({ id }) => id)).size, changes.length);
  const names = new Set(changes.map(({ change }) => change));
  const untold =
    /^(?:company|logo|numbering)\.|\.import$|^(?:customer\.restore|invoice\.discard|job\.reopen|person\.deactivate|quote\.edit|refund\.void)$/;
  t.strictSame(
    [...names].sort(),
    changeNames()
      .filter((name) => !untold.test(name))
      .sort(),
  );
});

t.test('there are exactly as many records as asked for, in their shares', async (t) => {
  t.equal(all.length, 2_000);
  const shares = { jobs: 0.35, submissions: 0.3, invoices: 0.2, quotes: 0.1, customers: 0.05 };
  for (const [resource, share] of Object.entries(shares)) {
    const actual = company[resource as Resource].length / all.length;
    t.ok(Math.abs(actual - share) < 0.02, `${resource}: ${actual} is near ${share}`);
  }
  for (const [resource, records] of Object.entries(company)) t.ok(records.length >= 3, resource);
});

t.test('any number and any seed give that many records', async (t) => {
  await t.resolves(
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 300 }), fc.maxSafeInteger(), async (records, seed) => {
        return (await generate(records, seed)).all.length === records;
      }),
      { numRuns: 6 },
    ),
  );
});

t.test(
  'ids come in the order of creation, each once; those of documents are UUIDs of that moment',
  async (t) => {
    for (const records of Object.values(company)) {
      const ids = records.map(({ id }) => id);
      t.strictSame(ids, [...new Set(ids)].sort());
    }
    for (const resource of ['customers', 'jobs', 'submissions', 'invoices', 'quotes'] as const) {
      const times = company[resource].map(({ createdAt }) => createdAt);
      t.strictSame(times, [...times].sort(), resource);
    }
    for (const { id, createdAt } of [...company.invoices, ...company.quotes]) {
      t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      t.equal(Number.parseInt(id.replace('-', '').slice(0, 12), 16), Date.parse(createdAt));
    }
  },
);

t.test('times cover two years, and are none of them in the future', async (t) => {
  const { customers, forms, jobs, invoices, quotes, submissions } = company;
  const changing = [...customers, ...forms, ...jobs, ...invoices, ...quotes];
  t.ok(changing.every(({ updatedAt }) => updatedAt <= nowText));
  t.ok(submissions.every(({ createdAt, submittedAt }) => submittedAt <= createdAt));
  t.ok(jobs.every(({ completedAt, updatedAt }) => completedAt === null || completedAt <= updatedAt));
  t.match(jobs[0]?.createdAt, /^2024-1[12]/);
  t.match(jobs.at(-1)?.createdAt, /^2026-11/);
});

t.test('jobs are completed, under way, scheduled or new, with custom fields of every type', async (t) => {
  const labels = new Set(company.jobs.map(({ statusLabelId }) => statusLabelId));
  t.strictSame([...labels].sort(), ['lbl_done', 'lbl_in_progress', 'lbl_new', 'lbl_scheduled']);
  t.ok(company.jobs.every((job) => job.completed === (job.statusLabelId === 'lbl_done')));
  const values = company.jobs.flatMap(({ customFields }) => Object.values(customFields));
  const typeOf = (value: unknown) =>
    value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  t.strictSame([...new Set(values.map(typeOf))].sort(), ['array', 'boolean', 'null', 'number', 'string']);
});

t.test('forms have fields of every type, and are filled in with earlier revisions too', async (t) => {
  const { forms, submissions } = company;
  const types = new Set(forms.flatMap(({ fields }) => fields.map(({ type }) => type)));
  const described =
    'text, longtext, number, yesno, select, multiselect, date, time, datetime, photo, file, signature, section';
  t.strictSame([...types].sort(), described.split(', ').sort());
  t.ok(forms.some(({ published }) => !published));
  const known = byId(forms);
  t.ok(submissions.some(({ formId, formRevision }) => formRevision < (known.get(formId)?.revision ?? 0)));
  t.ok(submissions.every(({ formId }) => known.has(formId)));
  t.ok(
    submissions.some(({ jobId }) => jobId !== undefined),
    'on jobs',
  );
  t.ok(
    submissions.some((submission) => !('jobId' in submission)),
    'and on their own',
  );
});

t.test('the same options give the same records, another seed gives others', async (t) => {
  const textOf = async (seed?: number) => JSON.stringify(await generate(200, seed));
  const text = await textOf();
  t.ok((await textOf()) === text);
  t.ok((await textOf(1)) === text);
  t.ok((await textOf(2)) !== text);
});

t.test('memory does not grow with the number of records', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const usedMb = () => {
    collect();
    return process.memoryUsage().heapUsed / 2 ** 20;
  };
  const beforeMb = usedMb();
  let count = 0;
  let made = 0;
  let mostMb = 0;
  for (const { records, change } of generateCompany({ company: 'demo', records: 100_000, now: STORY_NOW })) {
    count += 1;
    if (count % 40_000 === 0) mostMb = Math.max(mostMb, usedMb());
    if (records < made || change.id !== String(count)) t.fail('records and changes are counted');
    made = records;
  }
  t.equal(made, 100_000);
  t.ok(mostMb - beforeMb < 40, `${Math.round(mostMb - beforeMb)} MB beside what there was`);
});
