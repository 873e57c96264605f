import type { Invoice, ResourceRecord } from '../contract/records.ts';
import { dayText } from './calendar.ts';
import type { ArrivingResource } from './census.ts';
import { customer } from './customers.ts';
import type { CustomerBook, DemoCustomer } from './customers.ts';
import { lineItems, makeContractDeal, makeDeal } from './deals.ts';
import type { Crew } from './founding.ts';
import { invoice, proForma } from './invoices.ts';
import type { NumberBook } from './invoices.ts';
import { job } from './jobs.ts';
import { createNumberSeries } from './number-series.ts';
import { quote } from './quotes.ts';
import { submission } from './submissions.ts';
import type { World } from './world.ts';

/** Makes the records that follow from no other: a customer calls, a van is checked, a contract is invoiced. */
export function arrivals(
  world: World,
  crew: Crew,
  customers: CustomerBook,
): (resource: ArrivingResource, createdAtMs: number) => ResourceRecord {
  const { random } = world;
  const numbers: NumberBook = {
    invoices: createNumberSeries('INV'),
    creditNotes: createNumberSeries('CN'),
    proFormas: createNumberSeries('PF'),
    quotes: createNumberSeries('Q'),
  };

  function addCustomer(createdAtMs: number): ResourceRecord {
    const added = customer(world, createdAtMs);
    customers.add(added);
    return { resource: 'customers', record: added.record };
  }

  function addSubmission(createdAtMs: number): ResourceRecord | undefined {
    const form = crew.formsOffJobs[random.integer(0, crew.formsOffJobs.length - 1)];
    if (!form) return undefined;
    const submittedBy = random.pick(crew.fieldPeople).id;
    return { resource: 'submissions', record: submission(world, createdAtMs, { form, submittedBy }) };
  }

  function addFor(
    known: DemoCustomer,
    resource: Exclude<ArrivingResource, 'customers'>,
    createdAtMs: number,
  ): ResourceRecord {
    switch (resource) {
      case 'quotes': {
        const record = quote(world, crew, numbers, createdAtMs, makeDeal(known, random));
        return { resource, record };
      }
      case 'invoices':
        return { resource, record: billing(world, numbers, known, createdAtMs) };
      default: {
        const order = { deal: makeDeal(known, random), toInvoice: true };
        return { resource: 'jobs', record: job(world, crew, numbers, createdAtMs, order) };
      }
    }
  }

  return (resource, createdAtMs) => {
    if (resource === 'customers') return addCustomer(createdAtMs);
    const standalone = resource === 'submissions' ? addSubmission(createdAtMs) : undefined;
    if (standalone) return standalone;
    const known = customers.pick(createdAtMs);
    return known ? addFor(known, resource, createdAtMs) : addCustomer(createdAtMs);
  };
}

/** The invoice for a month of a contract, or a request for a deposit. */
function billing(world: World, numbers: NumberBook, known: DemoCustomer, createdAtMs: number): Invoice {
  const { random } = world;
  if (random.chance(0.3)) {
    const deal = makeDeal(known, random);
    const supply = { supplyDate: null, supplyPeriod: null };
    return proForma(world, numbers, createdAtMs, {
      deal,
      plans: lineItems(deal, random),
      jobId: null,
      supply,
    });
  }
  const deal = makeContractDeal(known, random);
  const supply = monthBefore(createdAtMs);
  return invoice(world, numbers, createdAtMs, { deal, plans: lineItems(deal, random), jobId: null, supply });
}

function monthBefore(atMs: number): Pick<Invoice, 'supplyDate' | 'supplyPeriod'> {
  const at = new Date(atMs);
  const startDate = dayText(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1, 1));
  const endDate = dayText(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 0));
  return { supplyDate: endDate, supplyPeriod: { startDate, endDate } };
}
