import type { Customer, Form, Job } from '../contract/records.ts';
import { omit } from '../contract/document-terms.ts';
import { examplesOf, pick, type Told } from './example-company.ts';

/** The day on which the company began, a minute for each of its people. */
const JOINED_AT = Date.parse('2026-08-24T08:00:00.000Z');

/** The first state of customers that were changed later. */
const customersAtFirst: Record<string, (now: Customer) => Partial<Customer>> = {
  cus_0001: ({ contacts }) => ({ contacts: contacts.slice(0, 1) }),
  cus_0003: ({ contacts }) => ({ contacts: contacts.slice(0, 1) }),
  cus_0004: () => ({ paymentTermsDays: 30 }),
};

/** When each revision of a form was saved, with how many of its fields, and when it was published. */
const formHistories: Record<string, { savedAt: [at: string, fieldCount: number][]; publishedAt?: string }> = {
  frm_0001: {
    savedAt: [
      ['2026-08-25T09:02:40.310Z', 3],
      ['2026-08-25T09:31:05.772Z', 7],
      ['2026-08-28T15:44:51.090Z', 9],
      ['2026-09-08T12:01:39.000Z', 11],
    ],
    publishedAt: '2026-08-25T09:33:20.154Z',
  },
  frm_0002: { savedAt: [['2026-09-01T16:38:12.445Z', 5]], publishedAt: '2026-09-02T09:10:52.000Z' },
  frm_0003: { savedAt: [['2026-11-18T08:15:27.630Z', 1]] },
};

/** The first state of jobs that were changed later. */
const jobsAtFirst: Record<string, Partial<Job>> = {
  job_0001: { statusLabelId: 'label_scheduled' },
  job_0002: { statusLabelId: 'label_scheduled', dates: ['2026-10-05', '2026-10-12', '2026-10-19'] },
  job_0003: { statusLabelId: 'label_scheduled' },
  job_0004: { statusLabelId: 'label_scheduled' },
  job_0005: {
    statusLabelId: 'label_scheduled',
    dates: ['2026-11-30', '2026-12-01', '2026-12-02'],
    notes: '',
  },
};

/** The other changes of jobs on the way. */
const jobUpdates: Told<'job.update'>[] = [
  {
    at: '2026-10-05T07:41:37.208Z',
    change: 'job.update',
    with: { id: 'job_0002', statusLabelId: 'label_in_progress' },
  },
];

/** The people, the customers, the forms and what was filled in, and the jobs that no quote led to. */
export function workChanges(): Told[] {
  return [
    ...examplesOf('people').map(({ status: _status, ...person }, index): Told => ({
      at: new Date(JOINED_AT + index * 60_000).toISOString(),
      change: 'person.save',
      with: person,
    })),
    ...examplesOf('customers').flatMap(customerChanges),
    ...examplesOf('forms').flatMap(formChanges),
    ...examplesOf('submissions').map(({ createdAt, formRevision: _revision, ...submission }): Told => ({
      at: createdAt,
      change: 'form.submit',
      with: submission,
    })),
    ...examplesOf('jobs').flatMap(jobChanges),
    ...jobUpdates,
  ];
}

function customerChanges(customer: Customer): Told[] {
  const { archived, createdAt, updatedAt, ...saved } = customer;
  const first: Told = {
    at: createdAt,
    change: 'customer.save',
    with: { ...saved, ...customersAtFirst[customer.id]?.(customer) },
  };
  if (archived) return [first, { at: updatedAt, change: 'customer.archive', with: { id: customer.id } }];
  return updatedAt === createdAt ? [first] : [first, { at: updatedAt, change: 'customer.save', with: saved }];
}

function formChanges({ fields, ...form }: Form): Told[] {
  const { savedAt, publishedAt } = formHistories[form.id] ?? { savedAt: [] };
  const saved = savedAt.map(([at, fieldCount]): Told => ({
    at,
    change: 'form.save',
    with: { ...pick(form, 'id', 'title', 'description'), fields: fields.slice(0, fieldCount) },
  }));
  return publishedAt ? [...saved, { at: publishedAt, change: 'form.publish', with: { id: form.id } }] : saved;
}

function jobChanges(job: Job): Told[] {
  const { id, statusLabelId, completedAt, createdAt, updatedAt } = job;
  const isConverted = examplesOf('quotes').some(({ convertedJobId }) => convertedJobId === id);
  const made: Told[] = isConverted
    ? []
    : [{ at: createdAt, change: 'job.create', with: { ...jobAtFirst(job), customerId: job.customerId } }];
  if (completedAt) return [...made, { at: completedAt, change: 'job.complete', with: { id, statusLabelId } }];
  const updated = pick(job, 'id', 'statusLabelId', 'dates', 'notes');
  return updatedAt === createdAt ? made : [...made, { at: updatedAt, change: 'job.update', with: updated }];
}

export function jobAtFirst(job: Job) {
  const made = omit(job, ['completed', 'completedAt', 'customerId', 'createdAt', 'updatedAt']);
  return { ...made, ...jobsAtFirst[job.id] };
}
