import type { Job } from '../contract/records.ts';
import { DAY_MS } from '../contract/durations.ts';
import { isoDay, isWorkday, workingMoment } from './calendar.ts';
import { type Deal, lineItems } from './deals.ts';
import { someForm } from './forms.ts';
import { documentStrand } from './invoices.ts';
import { fieldPerson } from './people.ts';
import type { Random } from './random.ts';
import type { Strand } from './strands.ts';
import { submission } from './submissions.ts';
import { mintId, type World } from './world.ts';

/** A job as it is made, with the moments at which its days of work end. */
export interface PlannedJob {
  job: ReturnType<typeof jobMembers>;
  visits: readonly number[];
}

/** A job comes in, is done, and is often invoiced. */
export function* job(world: World, createdAtMs: number, deal: Deal): Strand {
  if (!world.census.admit('jobs')) return;
  const made = newJob(world, createdAtMs, deal);
  yield { change: 'job.create', with: { ...made.job, customerId: deal.customer.id } };
  yield* workAndInvoice(world, made, deal);
}

export function* workAndInvoice(world: World, made: PlannedJob, deal: Deal): Strand {
  const doneAtMs = yield* workOn(world, made);
  if (doneAtMs !== undefined) yield* invoiceJob(world, made.job.id, deal, doneAtMs);
}

export function newJob(world: World, createdAtMs: number, deal: Deal): PlannedJob {
  const visits = visitsOf(createdAtMs, world.random);
  return { visits, job: jobMembers(world, createdAtMs, deal, visits) };
}

function jobMembers(world: World, createdAtMs: number, deal: Deal, visits: readonly number[]) {
  const { random, people } = world;
  const [lead, ...mates] = visits.length > 0 ? assignedPeople(world) : [];
  return {
    id: mintId(world, 'job', createdAtMs),
    title: deal.work.title,
    statusLabelId: lead ? 'lbl_scheduled' : 'lbl_new',
    dates: visits.map(isoDay),
    assignedTo: lead ? [lead, ...mates].map(({ id }) => id) : [],
    teamId: lead?.teamId ?? null,
    jobTypeId: deal.work.jobTypeId,
    jobTypeVersion: random.integer(1, 4),
    customFields: customFields(deal, random),
    notes: random.chance(0.35) ? random.pick(notes) : '',
    createdBy: people[random.integer(0, people.length - 1)]?.id ?? '',
  };
}

/** The moments at which the day's work ends; none while the job is not scheduled. */
function visitsOf(createdAtMs: number, random: Random): number[] {
  if (random.chance(0.05)) return [];
  const visits = [workingMoment(createdAtMs, random.integer(1, 10), random)];
  const dayCount = random.weighted([
    [70, 1],
    [20, 2],
    [10, 4],
  ]);
  while (visits.length < dayCount) {
    let next = (visits.at(-1) ?? createdAtMs) + DAY_MS;
    while (!isWorkday(next)) next += DAY_MS;
    visits.push(next);
  }
  return visits;
}

function assignedPeople(world: World) {
  const lead = fieldPerson(world);
  const mate = fieldPerson(world);
  return mate === lead || world.random.chance(0.6) ? [lead] : [lead, mate];
}

/**
 * The days of a job, one after the other. A job without any, and one that isn't finished on the last, goes no further.
 * @returns when it was completed.
 */
export function* workOn(world: World, { job, visits }: PlannedJob): Strand<number | undefined> {
  const { random } = world;
  const [submittedBy = ''] = job.assignedTo;
  for (const [index, visitMs] of visits.entries()) {
    const atMs = yield visitMs;
    const form = random.chance(0.5) ? someForm(world, true) : undefined;
    if (form) yield* submission(world, atMs, { form, submittedBy, jobId: job.id });
    if (index === visits.length - 1 && random.chance(0.95)) {
      yield { change: 'job.complete', with: { id: job.id, statusLabelId: 'lbl_done' } };
      return atMs;
    }
    if (index === 0) {
      yield { change: 'job.update', with: { id: job.id, statusLabelId: 'lbl_in_progress' } };
    }
  }
  return undefined;
}

/** A job that is done is often invoiced within the week; others are covered by a contract. */
function* invoiceJob(world: World, jobId: string, deal: Deal, doneAtMs: number): Strand {
  const { random } = world;
  if (!random.chance(0.42)) return;
  const atMs = yield workingMoment(doneAtMs, random.integer(1, 5), random);
  yield* documentStrand(world, atMs, {
    kind: 'invoice',
    deal,
    lines: lineItems(deal, random).map((line) => ({ ...line, jobId })),
    supply: { supplyDate: isoDay(doneAtMs) },
  });
}

function customFields({ customer, work }: Deal, random: Random): Job['customFields'] {
  const fields: Job['customFields'] = {};
  if (random.chance(0.5)) fields['Key safe'] = random.chance(0.3) ? null : String(random.integer(1000, 9999));
  if (work.jobTypeId === 'jtp_service') fields['Under contract'] = random.chance(0.6);
  if (random.chance(0.3)) fields['Storeys'] = random.integer(1, 5);
  if (customer.segment !== 'home' && random.chance(0.3))
    fields['Access'] = ['Sign in at reception', 'Hard hat'];
  return fields;
}

const notes = [
  'Ring before arrival.',
  'The key is with the neighbour.',
  'Parking at the rear of the building.\nGate code on the job sheet.',
  'Dog in the garden.',
  'Customer is away until the afternoon.',
] as const;
