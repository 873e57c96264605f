import { isoDay } from './calendar.ts';
import type { ArrivingResource } from './census.ts';
import { customer, type DemoCustomer } from './customers.ts';
import { lineItems, makeContractDeal, makeDeal } from './deals.ts';
import { someForm } from './forms.ts';
import { documentStrand, type Order } from './invoices.ts';
import { job } from './jobs.ts';
import { fieldPerson } from './people.ts';
import { quoteStrand } from './quotes.ts';
import type { Strand } from './strands.ts';
import { submission } from './submissions.ts';
import type { World } from './world.ts';

/** Events that begin something: a customer calls, a van is checked, a contract is invoiced. */
export function arrival(world: World, atMs: number, resource: ArrivingResource): Strand {
  const form = resource === 'submissions' ? someForm(world, false) : undefined;
  if (form) return submission(world, atMs, { form, submittedBy: fieldPerson(world).id });
  const known = resource === 'customers' ? undefined : world.customers.pick();
  if (!known) return customer(world, atMs);
  if (resource === 'quotes') return quoteStrand(world, atMs, makeDeal(known, world.random));
  if (resource === 'invoices') return documentStrand(world, atMs, billing(world, known, atMs));
  return job(world, atMs, makeDeal(known, world.random));
}

/** The invoice for a month of a contract, or a request for a deposit. */
function billing({ random }: World, known: DemoCustomer, atMs: number): Order {
  if (random.chance(0.3)) {
    const deal = makeDeal(known, random);
    return { kind: 'pro_forma', deal, lines: lineItems(deal, random), supply: {} };
  }
  const deal = makeContractDeal(known, random);
  return {
    kind: 'invoice',
    deal,
    lines: lineItems(deal, random),
    supply: { supplyPeriod: monthBefore(atMs) },
  };
}

function monthBefore(atMs: number): { startDate: string; endDate: string } {
  const at = new Date(atMs);
  const startDate = isoDay(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1, 1));
  const endDate = isoDay(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 0));
  return { startDate, endDate };
}
