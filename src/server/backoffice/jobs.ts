import type { NewJob, ChangeContent } from '../../contract/feed.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import { quote } from '../../errors.ts';
import type { Move } from './move.ts';
import { Refusal } from './refusal.ts';
import { CALENDAR_DAYS, refuseDayOutside } from './times.ts';

/** Creates a job, publishes job.created, and returns the job. `path` is the job's place within the change. */
export async function createJob(move: Move, job: NewJob, path = '/with'): Promise<RenderedRecord> {
  if (job.id !== undefined) await move.mustBeNew('jobs', job.id, `${path}/id`);
  await refuseBadMembers(move, job, [], path);
  const rendered = await move.putStamped('jobs', {
    id: job.id ?? move.mintId('job_'),
    title: job.title,
    statusLabelId: job.statusLabelId,
    completed: false,
    completedAt: null,
    dates: job.dates ?? [],
    assignedTo: job.assignedTo ?? [],
    teamId: job.teamId ?? null,
    customerId: job.customerId,
    jobTypeId: job.jobTypeId,
    jobTypeVersion: job.jobTypeVersion,
    customFields: job.customFields ?? {},
    notes: job.notes ?? '',
    createdAt: move.at,
    createdBy: job.createdBy,
  });
  move.send('job.created', rendered.body);
  return rendered;
}

/** Changes the given members of a job; publishes job.updated, unless the API shows no difference. */
export async function updateJob(
  move: Move,
  { id, ...changes }: ChangeContent<'job.update'>,
): Promise<RenderedRecord> {
  const job = await move.get('jobs', id, '/with/id');
  await refuseBadMembers(move, changes, job.assignedTo, '/with');
  return move.putChanged('jobs', { record: job }, { record: { ...job, ...changes } }, 'job.updated');
}

/**
 * Completes or reopens a job; publishes job.updated, and job.completed on completion.
 * @throws Refusal `wrong_state` when it is already in that state.
 */
export async function setCompleted(
  move: Move,
  { id, statusLabelId }: ChangeContent<'job.complete' | 'job.reopen'>,
  completed: boolean,
): Promise<RenderedRecord> {
  const job = await move.get('jobs', id, '/with/id');
  if (job.completed === completed) {
    const state = completed ? 'is completed already' : "isn't completed";
    throw new Refusal('wrong_state', `The job ${quote(id)} ${state}.`, '/with/id');
  }
  const given = {
    completedAt: completed ? move.at : null,
    statusLabelId: statusLabelId ?? job.statusLabelId,
  };
  const record = { ...job, completed, ...given };
  const rendered = await move.putChanged('jobs', { record: job }, { record }, 'job.updated');
  if (completed) move.send('job.completed', rendered.body);
  return rendered;
}

/** Refuses a job's bad days, and unknown customers or people. A person assigned before can stay, even if inactive. */
async function refuseBadMembers(
  move: Move,
  job: Partial<Pick<NewJob, 'customerId' | 'createdBy' | 'assignedTo' | 'dates'>>,
  assignedBefore: readonly string[],
  path: string,
): Promise<void> {
  for (const [index, day] of (job.dates ?? []).entries()) {
    refuseDayOutside(day, `${path}/dates/${index}`, CALENDAR_DAYS);
  }
  if (job.customerId !== undefined) await move.mustHave('customers', job.customerId, `${path}/customerId`);
  if (job.createdBy !== undefined) await move.mustHave('people', job.createdBy, `${path}/createdBy`);
  for (const [index, id] of (job.assignedTo ?? []).entries()) {
    if (!assignedBefore.includes(id)) await move.mustHave('people', id, `${path}/assignedTo/${index}`);
  }
}
