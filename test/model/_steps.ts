/** One step of a random sequence: what the clock does, who moves, and which change comes, right or wrong. */
import type { Change } from '../../src/contract/feed.ts';
import { dayIn, iso } from './_model.ts';
import type { Fault, ModelCompany, ModelledName, Moves, World } from './_model.ts';
import { type Chance, type Draw, drawOf } from './_chance.ts';
import { invoiceMoves } from './_invoices.ts';
import { issueMoves } from './_issue.ts';
import { moneyMoves } from './_money.ts';
import { quoteMoves } from './_quotes.ts';
import { documentDrawers } from './_steps-documents.ts';
import { quoteDrawers } from './_steps-quotes.ts';
import { type Drawers, workDrawers } from './_steps-work.ts';
import { workMoves } from './_work.ts';

export const moves: Moves = { ...workMoves, ...invoiceMoves, ...issueMoves, ...moneyMoves, ...quoteMoves };

const drawers: Drawers = { ...workDrawers, ...documentDrawers, ...quoteDrawers };

/** How often each move comes. What money does is what most can go wrong with. */
const weights: Record<ModelledName, number> = {
  ...{ 'job.create': 3, 'job.update': 4, 'job.complete': 3, 'job.reopen': 2 },
  ...{ 'person.save': 3, 'person.deactivate': 2, 'customer.save': 5, 'customer.archive': 1 },
  ...{ 'customer.restore': 2 },
  ...{ 'form.save': 1, 'form.publish': 2, 'form.submit': 3 },
  ...{ 'invoice.draft': 16, 'invoice.edit': 7, 'invoice.discard': 2, 'invoice.issue': 18 },
  ...{ 'payment.record': 15, 'payment.void': 6, 'refund.record': 7, 'refund.void': 4 },
  ...{ 'quote.draft': 4, 'quote.edit': 3, 'quote.send': 8, 'quote.revise': 4 },
  ...{ 'quote.accept': 7, 'quote.decline': 2, 'quote.convert_to_job': 4, 'quote.convert_to_invoice': 4 },
};
const names = Object.entries(weights).flatMap(([name, weight]) =>
  Array<ModelledName>(weight).fill(name as ModelledName),
);

/** The state that a sequence keeps between its steps. */
export interface Walk {
  world: World;
  ids: { count: number };
  /** Changes with ids that were applied, to be sent again. */
  sent: Change[];
}

/** A change, and the fault by which it isn't one at all. */
export interface Step {
  change: unknown;
  broken?: Fault;
}

/** Lets the clock go on, stand still, go back, or jump over a midnight or weeks. */
export function moveClock({ world }: Walk, { next, below, pick }: Chance): void {
  const share = next();
  const hour = 3_600_000;
  if (share < 0.5) world.nowMs += 1 + below(3_000);
  else if (share < 0.7) return;
  else if (share < 0.78) world.nowMs -= below(2 * hour);
  else if (share < 0.79) world.nowMs -= below(72 * hour);
  else if (share < 0.9) world.nowMs += below(6 * hour);
  else if (share < 0.95) {
    const company = pick([...world.companies.values()]);
    if (company) world.nowMs = midnightAfter(company.timeZone, world.nowMs) - 2 + below(4);
  } else if (share < 0.98) world.nowMs += below(10 * 24) * hour;
  else world.nowMs += below(60 * 24) * hour;
}

/** The moment at which the next day begins in a time zone. */
export function midnightAfter(timeZone: string, ms: number): number {
  const today = dayIn(timeZone, ms);
  // Two days later it is another day, even where one of them has 25 hours.
  let [before, after] = [ms, ms + 48 * 3_600_000];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (dayIn(timeZone, middle) === today) before = middle;
    else after = middle;
  }
  return after;
}

export function drawStep(walk: Walk, chance: Chance): Step {
  const again = chance.happens(0.04) ? chance.pick(walk.sent) : undefined;
  if (again) return { change: sentAgain(chance, again) };
  const company = chance.pick([...walk.world.companies.values()]);
  if (!company) throw new Error('There is no company.');
  const draw = drawOf(chance, walk.world, company, walk.ids);
  const change = drawChange(walk, draw);
  return chance.happens(0.015) ? spoilt(draw, change) : { change };
}

/** Mostly the same change, whatever the order of its members; sometimes its id stands on another one. */
function sentAgain({ next, below }: Chance, change: Change): Change {
  const share = next();
  if (share < 0.5) return change;
  if (share < 0.75) return Object.fromEntries(Object.entries(change).reverse()) as Change;
  return { ...change, at: iso(Date.parse('2026-01-01T00:00:00Z') + below(1000)) };
}

function drawChange(walk: Walk, draw: Draw): Change {
  const drawn = drawMove(draw);
  const taken = draw.happens(0.02)
    ? walk.sent.find(({ company, change }) => company === draw.company.id && change !== drawn.change)
    : undefined;
  const id = taken?.id ?? (draw.happens(0.6) ? draw.newId('feed') : undefined);
  const company = draw.happens(0.006) ? 'nobody' : draw.company.id;
  // A name comes with what its move needs to know.
  return { ...drawn, company, ...(id === undefined ? {} : { id }), ...drawTime(draw) } as Change;
}

function drawMove(draw: Draw): Pick<Change, 'change' | 'with'> {
  for (;;) {
    const change = draw.pick(names) ?? 'person.save';
    const what = drawers[change](draw);
    if (what) return { change, with: what };
  }
}

/** Mostly a change happens now; it may be told late, or by a clock that is a little ahead. */
function drawTime({ next, below, world }: Draw): { at?: string } {
  const share = next();
  if (share < 0.8) return {};
  if (share < 0.9) return { at: iso(world.nowMs - below(3 * 3_600_000)) };
  if (share < 0.95) return { at: iso(world.nowMs - below(72 * 3_600_000)).replace('Z', '+00:00') };
  return { at: iso(world.nowMs + below(300_001) + (share < 0.985 ? 0 : 300_001)) };
}

/** A change that breaks feed.yaml, in one of a few ways; bad-input.test.ts goes through all of them. */
function spoilt({ oneOf }: Draw, change: Change): Step {
  const { with: what, ...rest } = change;
  return oneOf<Step>(
    { change: 'no object', broken: { code: 'malformed_line', path: '' } },
    { change: { ...change, change: 'invoice.paint' }, broken: { code: 'unknown_change', path: '/change' } },
    { change: rest, broken: { code: 'invalid_change', path: '/with' } },
    {
      change: { ...rest, with: { ...what, surplus: 1 } },
      broken: { code: 'invalid_change', path: '/with/surplus' },
    },
    { change: { ...change, id: '' }, broken: { code: 'invalid_change', path: '/id' } },
    { change: { ...change, at: '2026-02-30T12:00:00Z' }, broken: { code: 'invalid_change', path: '/at' } },
  );
}

/** Draws a change of a company's profile now and then; most of them leave its documents complete. */
export function drawProfile(
  { happens, oneOf }: Chance,
  { profile }: ModelCompany,
): ModelCompany['profile'] | undefined {
  const whole = { legalName: 'Brennan Heating Limited', addressLines: ['2 Dock Road', 'Limerick'] };
  const isBroken = profile.legalName === ' ' || profile.addressLines?.length === 0;
  if (isBroken && happens(0.3)) return whole;
  if (!happens(0.02)) return undefined;
  return oneOf<ModelCompany['profile']>(
    { ...whole, phone: '+353 61 555 0101' },
    { addressLines: ['3 Quay Lane', 'Cork'] },
    { logo: `data:image/png;base64,${oneOf('iVBORw0KGgo=', 'iVBORw0KGgoAAAA=')}` },
    oneOf<ModelCompany['profile']>({ legalName: ' ' }, { addressLines: [] }),
  );
}
