import type { DraftLine, GivenExchange, NewInvoice } from '../contract/feed.ts';
import { DAY_MS, MINUTE_MS } from '../contract/durations.ts';
import { isoDay, isWorkday } from './calendar.ts';
import { type Deal, grossMinorOf } from './deals.ts';
import { settle } from './settlement.ts';
import type { Strand } from './strands.ts';
import { mintUuid, type World } from './world.ts';

export interface Order {
  kind: 'invoice' | 'pro_forma';
  deal: Deal;
  lines: DraftLine[];
  supply: Pick<NewInvoice, 'supplyDate' | 'supplyPeriod'>;
}

/** An invoice or a pro forma is drafted, mostly issued, and settled in one of many ways. */
export function* documentStrand(world: World, createdAtMs: number, order: Order): Strand {
  if (!world.census.admit('invoices')) return;
  const { kind, deal, lines, supply } = order;
  const id = mintUuid(world, createdAtMs);
  const { customer, siteId } = deal;
  const draft = { siteId, ...supply, ...terms(world, deal, createdAtMs), lines };
  yield { change: 'invoice.draft', with: { id, kind, customerId: customer.id, ...draft } };
  yield* issue(world, createdAtMs, { id, kind, deal, lines });
}

export function terms({ random }: World, { customer }: Deal, atMs: number) {
  const isBusiness = customer.segment !== 'home';
  return {
    ...(customer.currency === HOME_CURRENCY ? {} : { exchange: exchangeAt(atMs) }),
    ...(isBusiness && random.chance(0.4) ? { buyerReference: `CC-${random.integer(100, 999)}` } : {}),
    ...(isBusiness && random.chance(0.6)
      ? { purchaseOrderReference: `PO-${random.integer(10_000, 99_999)}` }
      : {}),
    ...(random.chance(0.1) ? { note: random.pick(notes) } : {}),
  };
}

export interface DraftedDocument extends Pick<Order, 'kind' | 'deal' | 'lines'> {
  id: string;
}

/** A draft is issued within the hour; a few are left for later. */
export function* issue(
  world: World,
  draftedAtMs: number,
  { id, kind, deal, lines }: DraftedDocument,
): Strand {
  const { random } = world;
  const isLeft = random.chance(kind === 'invoice' ? 0.04 : 0.1);
  yield draftedAtMs + random.integer(5, 60) * MINUTE_MS;
  if (isLeft) {
    yield { change: 'invoice.edit', with: { id, note: 'To be checked before it is issued.' } };
    return;
  }
  const issuedAtMs = yield { change: 'invoice.issue', with: { id } };
  if (kind === 'pro_forma') return;
  const { id: customerId, currency } = deal.customer;
  yield* settle(world, { id, customerId, currency, lines, grossMinor: grossMinorOf(lines), issuedAtMs });
}

const HOME_CURRENCY = 'EUR';

/** The rate of the last workday up to a moment: an invention that wanders between 1.15 and 1.19. */
function exchangeAt(atMs: number): GivenExchange {
  let day = atMs;
  while (!isWorkday(day)) day -= DAY_MS;
  const dayNumber = Math.floor(day / DAY_MS);
  const wander = Math.abs((dayNumber % 240) - 120) * 2 + ((dayNumber * 7919) % 97);
  return {
    exchangeRate: `1.1${String(5000 + wander * 12).slice(0, 4)}`,
    exchangeRateDate: isoDay(day),
    exchangeRateSource: 'ECB',
  };
}

const notes = [
  'Thank you for your custom.',
  'Please quote the invoice number with your payment.',
  'Parts are guaranteed for two years, labour for one.',
] as const;
