import type { Job, Person } from '../contract/records.ts';
import { DAY_MS, HOUR_MS, dayText, isWorkday, timeText, workingMoment } from './calendar.ts';
import { lineItems } from './deals.ts';
import type { Deal } from './deals.ts';
import type { Crew } from './founding.ts';
import { invoice } from './invoices.ts';
import type { NumberBook } from './invoices.ts';
import type { Random } from './random.ts';
import { submission } from './submissions.ts';
import type { World } from './world.ts';

export interface JobOrder {
  deal: Deal;
  /** False when the quote that it comes from was invoiced. */
  toInvoice: boolean;
}

/** A job as it is now; the forms filled in on it and its invoice are planned. */
export function job(
  world: World,
  crew: Crew,
  numbers: NumberBook,
  createdAtMs: number,
  order: JobOrder,
): Job {
  const { random, ids, nowMs } = world;
  const { deal } = order;
  const id = ids.prefixed('job', createdAtMs);
  const visits = visitsOf(createdAtMs, random);
  const lastVisitMs = visits.at(-1);
  const isDone = lastVisitMs !== undefined && lastVisitMs < nowMs && random.chance(0.95);
  const assigned = assignedPeople(crew.fieldPeople, random, visits.length > 0);
  planSubmissions(world, crew, id, visits, assigned);
  if (isDone && order.toInvoice && random.chance(0.42)) planInvoice(world, numbers, id, deal, lastVisitMs);
  const completedAtMs = isDone ? lastVisitMs : undefined;
  return {
    id,
    title: deal.work.title,
    statusLabelId: statusLabel(visits, completedAtMs, nowMs),
    completed: isDone,
    completedAt: completedAtMs === undefined ? null : timeText(completedAtMs),
    dates: visits.map(dayText),
    assignedTo: assigned.map((person) => person.id),
    teamId: assigned[0]?.teamId ?? null,
    customerId: deal.customer.record.id,
    jobTypeId: deal.work.jobTypeId,
    jobTypeVersion: random.integer(1, 4),
    customFields: customFields(deal, random),
    notes: random.chance(0.35) ? random.pick(notes) : '',
    createdAt: timeText(createdAtMs),
    createdBy: random.pick(crew.people).id,
    updatedAt: timeText(lastChange(world, createdAtMs, completedAtMs)),
  };
}

function lastChange(world: World, createdAtMs: number, completedAtMs: number | undefined): number {
  const { random, stamps, nowMs } = world;
  if (completedAtMs !== undefined) return stamps.claim(completedAtMs);
  const editedAtMs = createdAtMs + random.integer(1, 20) * HOUR_MS;
  return random.chance(0.4) && editedAtMs < nowMs ? stamps.claim(editedAtMs) : createdAtMs;
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

function assignedPeople(
  people: readonly [Person, ...Person[]],
  random: Random,
  isScheduled: boolean,
): readonly Person[] {
  if (!isScheduled) return [];
  const lead = random.pick(people);
  const mate = random.pick(people);
  return mate === lead || random.chance(0.6) ? [lead] : [lead, mate];
}

function statusLabel(visits: readonly number[], completedAtMs: number | undefined, nowMs: number): string {
  const [firstVisitMs] = visits;
  if (completedAtMs !== undefined) return 'lbl_done';
  if (firstVisitMs === undefined) return 'lbl_new';
  return firstVisitMs < nowMs ? 'lbl_in_progress' : 'lbl_scheduled';
}

function planSubmissions(
  world: World,
  { formsOnJobs }: Crew,
  jobId: string,
  visits: readonly number[],
  assigned: readonly Person[],
): void {
  const { random, agenda } = world;
  const [lead] = assigned;
  for (const visitMs of visits) {
    const form = formsOnJobs[random.integer(0, formsOnJobs.length - 1)];
    if (!form || !lead || random.chance(0.5)) continue;
    agenda.plan('submissions', visitMs, (atMs) => ({
      resource: 'submissions',
      record: submission(world, atMs, { form, submittedBy: lead.id, jobId }),
    }));
  }
}

function planInvoice(world: World, numbers: NumberBook, jobId: string, deal: Deal, doneAtMs: number): void {
  const { random, agenda } = world;
  const invoicedAtMs = workingMoment(doneAtMs, random.integer(1, 5), random);
  agenda.plan('invoices', invoicedAtMs, (atMs) => ({
    resource: 'invoices',
    record: invoice(world, numbers, atMs, {
      deal,
      plans: lineItems(deal, random),
      jobId,
      supply: { supplyDate: dayText(doneAtMs), supplyPeriod: null },
    }),
  }));
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
