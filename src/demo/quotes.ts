import { DAY_MS, MINUTE_MS } from '../contract/durations.ts';
import { isoDay, workingMoment } from './calendar.ts';
import { type Deal, lineItems } from './deals.ts';
import { issue, terms } from './invoices.ts';
import { newJob, workAndInvoice, workOn } from './jobs.ts';
import type { Strand } from './strands.ts';
import { mintUuid, type World } from './world.ts';

const validForDays = 30;
const VERSIONS_MAX = 3;

export function* quoteStrand(world: World, createdAtMs: number, deal: Deal): Strand {
  const { random, census } = world;
  if (!census.admit('quotes')) return;
  let version = offer(world, deal, createdAtMs);
  const { customer, siteId, work } = deal;
  yield {
    change: 'quote.draft',
    with: { id: version.id, customerId: customer.id, siteId, title: work.title, ...version.draft },
  };
  for (let count = 1; ; count += 1) {
    const { id, atMs } = version;
    const isLeft = random.chance(0.05);
    if (isLeft) return;
    yield atMs + random.integer(1, 60) * MINUTE_MS;
    yield { change: 'quote.send', with: { id } };
    if (count === VERSIONS_MAX || !random.chance(0.25)) return yield* answer(world, version, deal);
    const revisedAtMs = yield workingMoment(atMs, random.integer(2, 9), random);
    if (!census.admit('quotes')) return;
    version = offer(world, deal, revisedAtMs);
    yield { change: 'quote.revise', with: { id, newId: version.id, ...version.draft } };
  }
}

type Version = ReturnType<typeof offer>;

function offer(world: World, deal: Deal, atMs: number) {
  const { random } = world;
  const draft = {
    validUntil: isoDay(atMs + validForDays * DAY_MS),
    buyerReference: random.chance(0.2) ? `RFQ-${random.integer(100, 9999)}` : null,
    note: random.chance(0.3) ? 'Prices hold if the work is ordered within the time stated.' : null,
    lines: lineItems(deal, random),
  };
  return { id: mintUuid(world, atMs), atMs, draft };
}

/** The customer accepts, declines, or lets the quote expire. */
function* answer(world: World, version: Version, deal: Deal): Strand {
  const { random } = world;
  const { id } = version;
  const change = random.weighted([
    [50, 'quote.accept'],
    [22, 'quote.decline'],
    [28, undefined],
  ] as const);
  if (change === undefined) return;
  const atMs = yield workingMoment(version.atMs, random.integer(1, validForDays - 4), random);
  yield { change, with: { id } };
  if (change === 'quote.accept') yield* convert(world, atMs, version, deal);
}

/** An accepted quote becomes a job, an invoice, both, or none. */
function* convert(world: World, acceptedAtMs: number, { id, draft }: Version, deal: Deal): Strand {
  const { random, census } = world;
  const toJob = random.chance(0.7);
  const toInvoice = random.chance(toJob ? 0.3 : 0.5);
  let doneAtMs: number | undefined = acceptedAtMs;
  if (toJob) {
    const atMs = yield workingMoment(acceptedAtMs, random.integer(1, 3), random);
    if (!census.admit('jobs')) return;
    const made = newJob(world, atMs, deal);
    yield { change: 'quote.convert_to_job', with: { id, job: made.job } };
    if (!toInvoice) return yield* workAndInvoice(world, made, deal);
    doneAtMs = yield* workOn(world, made);
  }
  if (!toInvoice || doneAtMs === undefined) return;
  const atMs = yield workingMoment(doneAtMs, 2, random);
  if (!census.admit('invoices')) return;
  const invoice = { id: mintUuid(world, atMs), ...terms(world, deal, atMs), supplyDate: isoDay(doneAtMs) };
  yield { change: 'quote.convert_to_invoice', with: { id, invoice } };
  yield* issue(world, atMs, { id: invoice.id, kind: 'invoice', deal, lines: draft.lines });
}
