import type { Person, ResourceRecord } from '../contract/records.ts';
import { HOUR_MS, MINUTE_MS } from './calendar.ts';
import type { Census } from './census.ts';
import { createCustomerBook, customer } from './customers.ts';
import type { CustomerBook } from './customers.ts';
import { formPlans } from './form-catalogue.ts';
import { form } from './forms.ts';
import type { DemoForm } from './forms.ts';
import { isInField, person } from './people.ts';
import type { World } from './world.ts';

/** Who does the work, and the forms they fill in. */
export interface Crew {
  people: readonly [Person, ...Person[]];
  /** Those of them who go out to the customers. */
  fieldPeople: readonly [Person, ...Person[]];
  /** Published ones: those filled in on jobs, and the others. */
  formsOnJobs: readonly DemoForm[];
  formsOffJobs: readonly DemoForm[];
}

export interface Founded {
  records: ResourceRecord[];
  /** Undefined in a company without anybody. */
  crew: Crew | undefined;
  customers: CustomerBook;
}

/** Enough that a customer is dealt with for months, few enough to be kept in memory. */
const customersInBookMax = 4_000;

/** What there is before the history begins: all people, all forms and the first customers. */
export function found(world: World, census: Census, foundedAtMs: number): Founded {
  const records: ResourceRecord[] = [];
  const people: Person[] = [];
  const forms: DemoForm[] = [];
  const customers = createCustomerBook(world.random, customersInBookMax);
  const nextMs = () => world.stamps.claim(foundedAtMs + 8 * HOUR_MS + records.length * MINUTE_MS);

  const { peopleCount, formCount, customerCount } = foundingCounts(census.countMax);
  while (people.length < peopleCount && census.admit('people')) {
    const record = person(world, nextMs(), people.length);
    people.push(record);
    records.push({ resource: 'people', record });
  }
  for (const plan of formPlans.slice(0, formCount)) {
    if (!census.admit('forms')) break;
    const added = form(world, nextMs(), plan);
    forms.push(added);
    records.push({ resource: 'forms', record: added.record });
  }
  for (let place = 0; place < customerCount && census.admit('customers'); place += 1) {
    const added = customer(world, nextMs(), place);
    customers.add(added);
    records.push({ resource: 'customers', record: added.record });
  }
  return { records, crew: crewOf(people, forms), customers };
}

/** A company of two thousand records has eight people; one of a million has two hundred. */
function foundingCounts(countMax: number): { peopleCount: number; formCount: number; customerCount: number } {
  return {
    peopleCount: Math.min(200, Math.max(Math.min(6, Math.ceil(countMax / 10)), Math.ceil(countMax / 250))),
    formCount: Math.ceil(countMax / 40),
    customerCount: Math.min(24, Math.ceil(countMax / 20)),
  };
}

function crewOf([first, ...others]: readonly Person[], forms: readonly DemoForm[]): Crew | undefined {
  if (!first) return undefined;
  const [firstInField = first, ...othersInField] = [first, ...others].filter(isInField);
  const published = forms.filter(({ plan }) => plan.published);
  return {
    people: [first, ...others],
    fieldPeople: [firstInField, ...othersInField],
    formsOnJobs: published.filter(({ plan }) => plan.onJobs),
    formsOffJobs: published.filter(({ plan }) => !plan.onJobs),
  };
}
