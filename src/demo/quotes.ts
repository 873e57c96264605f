import type { Quote } from '../contract/records.ts';
import { DAY_MS, MINUTE_MS, dayText, timeText, workingMoment } from './calendar.ts';
import { lineItems } from './deals.ts';
import type { Deal, LinePlan } from './deals.ts';
import { amountsOf, documentLines, parties } from './documents.ts';
import type { Crew } from './founding.ts';
import { invoice } from './invoices.ts';
import type { NumberBook } from './invoices.ts';
import { job } from './jobs.ts';
import type { World } from './world.ts';

const validForDays = 30;

/** What the versions of a quote share, and where this one stands among them. */
interface Version {
  groupId: string;
  number: string;
  deal: Deal;
  version: number;
  supersedesId: string | null;
}

/** The first version of a quote; its revisions, and what comes of it, are planned. */
export function quote(world: World, crew: Crew, numbers: NumberBook, createdAtMs: number, deal: Deal): Quote {
  return quoteVersion(world, crew, numbers, createdAtMs, {
    groupId: world.ids.groupUuid(createdAtMs),
    number: numbers.quotes.next(createdAtMs),
    deal,
    version: 1,
    supersedesId: null,
  });
}

/** What has become of a version by now. */
interface Outcome extends Pick<Quote, 'status' | 'respondedAt' | 'convertedJobId' | 'convertedInvoiceId'> {
  /** The moment of the last thing that happened. */
  lastAtMs: number;
}

function quoteVersion(
  world: World,
  crew: Crew,
  numbers: NumberBook,
  createdAtMs: number,
  version: Version,
): Quote {
  const { ids, random, stamps } = world;
  const { deal } = version;
  const id = ids.uuid(createdAtMs);
  const plans = lineItems(deal, random);
  const outcome = outcomeOf(world, crew, numbers, createdAtMs, { ...version, id, plans });
  const isSent = outcome.status !== 'draft';
  const { customer, siteId, currency, buyer } = parties(deal);
  return {
    id,
    quoteGroupId: version.groupId,
    number: version.number,
    version: version.version,
    supersedesQuoteId: version.supersedesId,
    status: outcome.status,
    title: deal.work.title,
    customer,
    siteId,
    currency,
    validUntil: isSent ? dayText(createdAtMs + validForDays * DAY_MS) : null,
    sentDate: isSent ? dayText(createdAtMs) : null,
    respondedAt: outcome.respondedAt,
    buyerReference: random.chance(0.2) ? `RFQ-${random.integer(100, 9999)}` : null,
    ...amountsOf(plans),
    convertedJobId: outcome.convertedJobId,
    convertedInvoiceId: outcome.convertedInvoiceId,
    createdAt: timeText(createdAtMs),
    updatedAt: timeText(outcome.lastAtMs === createdAtMs ? createdAtMs : stamps.claim(outcome.lastAtMs)),
    links: { self: `/api/v1/quotes/${id}` },
    note: random.chance(0.3) ? 'Prices hold if the work is ordered within the time stated.' : null,
    buyer,
    lines: documentLines(plans, id, null),
  };
}

type Draft = Version & { id: string; plans: readonly LinePlan[] };

function outcomeOf(
  world: World,
  crew: Crew,
  numbers: NumberBook,
  createdAtMs: number,
  draft: Draft,
): Outcome {
  const { random, nowMs } = world;
  const unanswered = { respondedAt: null, convertedJobId: null, convertedInvoiceId: null };
  const sentAtMs = createdAtMs + random.integer(1, 60) * MINUTE_MS;
  if (sentAtMs >= nowMs || random.chance(0.05))
    return { status: 'draft', ...unanswered, lastAtMs: createdAtMs };

  const revisedAtMs =
    draft.version < 3 && random.chance(0.25) ? revise(world, crew, numbers, createdAtMs, draft) : undefined;
  if (revisedAtMs !== undefined) return { status: 'revised', ...unanswered, lastAtMs: revisedAtMs };

  const respondedAtMs = workingMoment(sentAtMs, random.integer(1, validForDays - 4), random);
  const answer = random.weighted([
    [50, 'accepted'],
    [22, 'declined'],
    [28, 'sent'],
  ] as const);
  if (answer === 'sent' || respondedAtMs >= nowMs)
    return { status: 'sent', ...unanswered, lastAtMs: sentAtMs };
  const respondedAt = timeText(respondedAtMs);
  if (answer === 'declined')
    return { status: 'declined', ...unanswered, respondedAt, lastAtMs: respondedAtMs };
  return { status: 'accepted', respondedAt, ...convert(world, crew, numbers, respondedAtMs, draft) };
}

/** Plans the next version; undefined when there is to be none. */
function revise(
  world: World,
  crew: Crew,
  numbers: NumberBook,
  sentAtMs: number,
  draft: Draft,
): number | undefined {
  const { random, agenda } = world;
  const { groupId, number, deal, version, id } = draft;
  return agenda.plan('quotes', workingMoment(sentAtMs, random.integer(2, 9), random), (atMs) => ({
    resource: 'quotes',
    record: quoteVersion(world, crew, numbers, atMs, {
      groupId,
      number,
      deal,
      version: version + 1,
      supersedesId: id,
    }),
  }));
}

type Conversion = Pick<Outcome, 'convertedJobId' | 'convertedInvoiceId' | 'lastAtMs'>;

/** Plans the job and the invoice that an accepted quote becomes: either, both, or none. */
function convert(
  world: World,
  crew: Crew,
  numbers: NumberBook,
  acceptedAtMs: number,
  draft: Draft,
): Conversion {
  const { random, agenda, ids } = world;
  const { deal, plans } = draft;
  const toJob = random.chance(0.7);
  const toInvoice = random.chance(toJob ? 0.3 : 0.5);
  const jobAtMs = toJob
    ? agenda.plan('jobs', workingMoment(acceptedAtMs, random.integer(1, 3), random), (atMs) => ({
        resource: 'jobs',
        record: job(world, crew, numbers, atMs, { deal, toInvoice: !toInvoice }),
      }))
    : undefined;
  const jobId = jobAtMs === undefined ? null : ids.prefixed('job', jobAtMs);
  const invoicedMs = workingMoment(acceptedAtMs, jobId ? 25 : 2, random);
  const invoiceAtMs =
    toInvoice && toJob === (jobId !== null)
      ? agenda.plan('invoices', invoicedMs, (atMs) => ({
          resource: 'invoices',
          record: invoice(world, numbers, atMs, {
            deal,
            plans,
            jobId,
            supply: { supplyDate: dayText(atMs), supplyPeriod: null },
          }),
        }))
      : undefined;
  return {
    convertedJobId: jobId,
    convertedInvoiceId: invoiceAtMs === undefined ? null : ids.uuid(invoiceAtMs),
    lastAtMs: invoiceAtMs ?? jobAtMs ?? acceptedAtMs,
  };
}
