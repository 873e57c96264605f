/** The model's people, customers, forms, submissions and jobs. */
import { isDeepStrictEqual } from 'node:util';

import type { NewJob, ChangeContent } from '../../src/contract/feed.ts';
import type { Customer, Form, Job, Person, RecordOf, Submission } from '../../src/contract/records.ts';
import { iso, isToCome, type Moves, need, type Turn } from './_model.ts';

export const workMoves = {
  'job.create': (turn, what) => createJob(turn, what),
  'job.update': updateJob,
  'job.complete': (turn, { id, statusLabelId }) => {
    const job = need(turn, 'jobs', id, '/with/id');
    if (job.completed) turn.refuse('wrong_state', '/with/id');
    const completed = { ...job, completed: true, completedAt: turn.at };
    const after = put(turn, 'jobs', labelled(completed, statusLabelId));
    turn.send('job.updated', after);
    turn.send('job.completed', after);
    return after;
  },
  'job.reopen': (turn, { id, statusLabelId }) => {
    const job = need(turn, 'jobs', id, '/with/id');
    if (!job.completed) turn.refuse('wrong_state', '/with/id');
    const reopened = { ...job, completed: false, completedAt: null };
    const after = put(turn, 'jobs', labelled(reopened, statusLabelId));
    turn.send('job.updated', after);
    return after;
  },
  'person.save': (turn, what) => {
    const id = what.id ?? '';
    const person: Person = { jobTitle: null, teamId: null, ...what, id, status: 'active' };
    turn.company.tables.people.set(id, person);
    return person;
  },
  'person.deactivate': (turn, { id }) => {
    need(turn, 'people', id, '/with/id');
    turn.company.tables.people.delete(id);
    return null;
  },
  'customer.save': saveCustomer,
  'customer.archive': (turn, { id }) => setArchived(turn, id, true),
  'customer.restore': (turn, { id }) => setArchived(turn, id, false),
  'form.save': saveForm,
  'form.publish': (turn, { id }) => {
    const form = need(turn, 'forms', id, '/with/id');
    if (form.published) turn.refuse('wrong_state', '/with/id');
    return put(turn, 'forms', { ...form, published: true });
  },
  'form.submit': submitForm,
} satisfies Partial<Moves>;

/** Makes a job; `path` is where it is within the change. */
export function createJob(turn: Turn, what: NewJob, path = '/with'): Job {
  const { jobs } = turn.company.tables;
  const id = what.id ?? '';
  if (jobs.has(id)) turn.fault('duplicate_id', `${path}/id`);
  checkJob(turn, what, [], path);
  const blank = { dates: [], assignedTo: [], teamId: null, customFields: {}, notes: '' };
  const state = { completed: false, completedAt: null, createdAt: turn.at };
  const job = put(turn, 'jobs', { ...blank, ...what, id, ...state });
  turn.send('job.created', job);
  return job;
}

function updateJob(turn: Turn, { id, ...changes }: ChangeContent<'job.update'>): Job {
  const job = need(turn, 'jobs', id, '/with/id');
  checkJob(turn, changes, job.assignedTo, '/with');
  const changed = { ...job, ...changes };
  if (isDeepStrictEqual(changed, job)) return job;
  const after = put(turn, 'jobs', changed);
  turn.send('job.updated', after);
  return after;
}

function labelled<J extends Pick<Job, 'statusLabelId'>>(job: J, statusLabelId: string | undefined): J {
  return statusLabelId === undefined ? job : { ...job, statusLabelId };
}

/** Puts a record as it is from now on. */
function put<R extends 'jobs' | 'customers' | 'forms'>(
  turn: Turn,
  resource: R,
  record: Omit<RecordOf[R], 'updatedAt'>,
): RecordOf[R] {
  // What a record has besides its stamp is given.
  const stamped = { ...record, updatedAt: turn.stamp() } as RecordOf[R];
  (turn.company.tables[resource] as Map<string, RecordOf[R]>).set(stamped.id, stamped);
  return stamped;
}

/** Every assigned person is active, or was assigned before. */
function checkJob(
  turn: Turn,
  job: Partial<Pick<Job, 'customerId' | 'createdBy' | 'assignedTo'>>,
  assignedBefore: readonly string[],
  path: string,
): void {
  const { customers, people } = turn.company.tables;
  if (job.customerId !== undefined && !customers.has(job.customerId))
    turn.fault('unknown_record', `${path}/customerId`);
  if (job.createdBy !== undefined && !people.has(job.createdBy))
    turn.fault('unknown_record', `${path}/createdBy`);
  for (const [index, id] of (job.assignedTo ?? []).entries()) {
    if (!people.has(id) && !assignedBefore.includes(id)) {
      turn.fault('unknown_record', `${path}/assignedTo/${index}`);
    }
  }
}

function saveCustomer(turn: Turn, what: ChangeContent<'customer.save'>): Customer {
  const { customers } = turn.company.tables;
  const id = what.id ?? '';
  const before = customers.get(id);
  faultTwins(turn, what.sites ?? [], '/with/sites');
  // The only one that is drawn whose check letter is wrong.
  if (what.vatId === 'IE00') turn.fault('invalid_change', '/with/vatId');
  const blank = { legalName: null, vatId: null, email: null, contactName: null, contacts: [], sites: [] };
  const { archived = false, createdAt = turn.at } = before ?? {};
  const after = { ...blank, ...what, id, archived, createdAt };
  if (before && isDeepStrictEqual({ ...after, updatedAt: before.updatedAt }, before)) return before;
  return put(turn, 'customers', after);
}

function setArchived(turn: Turn, id: string, archived: boolean): Customer {
  const customer = need(turn, 'customers', id, '/with/id');
  if (customer.archived === archived) turn.refuse('wrong_state', '/with/id');
  return put(turn, 'customers', { ...customer, archived });
}

function saveForm(turn: Turn, what: ChangeContent<'form.save'>): Form {
  const id = what.id ?? '';
  const before = turn.company.tables.forms.get(id);
  faultTwins(turn, what.fields, '/with/fields');
  const isSameFields = !before || isDeepStrictEqual(before.fields, what.fields);
  const after = {
    description: '',
    ...what,
    id,
    published: before?.published ?? false,
    revision: (before?.revision ?? 1) + (isSameFields ? 0 : 1),
  };
  if (before && isDeepStrictEqual({ ...after, updatedAt: before.updatedAt }, before)) return before;
  return put(turn, 'forms', after);
}

function submitForm(turn: Turn, what: ChangeContent<'form.submit'>): Submission {
  const { submissions, people, jobs } = turn.company.tables;
  const { jobId, submittedAt } = what;
  const id = what.id ?? '';
  if (submittedAt !== undefined && isToCome(turn, Date.parse(submittedAt))) {
    turn.fault('invalid_change', '/with/submittedAt');
  }
  if (submissions.has(id)) turn.fault('duplicate_id', '/with/id');
  if (!people.has(what.submittedBy)) turn.fault('unknown_record', '/with/submittedBy');
  if (jobId !== undefined && !jobs.has(jobId)) turn.fault('unknown_record', '/with/jobId');
  const form = need(turn, 'forms', what.formId, '/with/formId');
  if (!form.published) turn.refuse('wrong_state', '/with/formId');
  faultFilling(turn, form, what);
  const submission: Submission = {
    answers: {},
    files: {},
    ...what,
    id,
    formRevision: form.revision,
    submittedAt: submittedAt === undefined ? turn.at : iso(Math.min(Date.parse(submittedAt), turn.nowMs)),
    createdAt: turn.stamp(),
  };
  submissions.set(id, submission);
  turn.send('form.submitted', submission);
  return submission;
}

/** An answer is of its field's type, and files belong to photos. */
function faultFilling(
  turn: Turn,
  { fields }: Form,
  { answers = {}, files = {} }: ChangeContent<'form.submit'>,
): void {
  const typeOf = (id: string) => fields.find((field) => field.id === id)?.type;
  for (const [id, answer] of Object.entries(answers)) {
    const type = Array.isArray(answer) ? 'multiselect' : typeof answer === 'boolean' ? 'yesno' : 'text';
    if (typeOf(id) !== type) turn.fault('invalid_change', `/with/answers/${id}`);
  }
  for (const id of Object.keys(files)) {
    if (typeOf(id) !== 'photo') turn.fault('invalid_change', `/with/files/${id}`);
  }
}

/** Of things that are named by their ids within a record, no two may share one. */
export function faultTwins(turn: Turn, things: readonly { id?: string }[], path: string): void {
  for (const [index, { id }] of things.entries()) {
    const first = things.findIndex((other) => other.id === id);
    if (id !== undefined && first < index) turn.fault('duplicate_id', `${path}/${index}/id`);
  }
}
