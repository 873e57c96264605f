import type { CompanyProfile } from '../server/store/tables/companies.ts';
import { arrival } from './arrivals.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../contract/durations.ts';
import { startOfDay, isoTime, type WorkingTime, workingTime } from './calendar.ts';
import { createCensus } from './census.ts';
import { createCustomerBook, customer } from './customers.ts';
import { formPlans } from './form-catalogue.ts';
import { formStrand } from './forms.ts';
import { person } from './people.ts';
import { createRandom } from './random.ts';
import type { StoryChange } from './story.ts';
import { createStrands, type Strand, type Strands } from './strands.ts';
import type { World } from './world.ts';

export interface CompanyOptions {
  company: string;
  /** How many records there are in all, of every resource together. */
  records: number;
  /** Where the two years of the company's history end. */
  now: Date;
  /** Another seed gives another company. */
  seed?: number;
}

export const generatedProfile = {
  legalName: 'Harbour Building Services Limited',
  addressLines: ['Unit 9, Dock Road Trade Park', 'Galway'],
  postcode: 'H91 K3F7',
  countryCode: 'IE',
  vatId: 'IE7431902I',
  companyNumber: '512907',
  email: 'office@harbour-building-services.example',
  phone: '+353 20 910 0177',
  bankAccountName: 'Harbour Building Services Limited',
  iban: 'IE64IRCE92050112345678',
} satisfies CompanyProfile;

/** A change, and how many records there are once it is made. */
export interface Generated {
  change: StoryChange;
  records: number;
}

const historyDays = 730;
const foundingDays = 30;
/** Enough that a customer is dealt with for months, few enough to be kept in memory. */
const customersInBookMax = 4_000;

/**
 * A company's history as changes, in the order of time. The same options give the same changes. Only work in
 * progress is kept in memory, never the records, so that memory hardly grows with their number.
 */
export function* generateCompany({ company, records, now, seed = 1 }: CompanyOptions): Generator<Generated> {
  // A change recorded in the last hour could carry a stamp that lies beyond the end.
  const endMs = now.getTime() - HOUR_MS;
  const startMs = startOfDay(endMs) - historyDays * DAY_MS;
  const strands = createStrands(endMs);
  const random = createRandom(seed);
  const census = createCensus(records);
  const customers = createCustomerBook(random, customersInBookMax);
  const world: World = { random, census, people: [], forms: [], customers };

  const foundedAtMs = startMs - foundingDays * DAY_MS + 8 * HOUR_MS;
  for (const [place, begin] of founding(world).entries())
    strands.begin(foundedAtMs + place * MINUTE_MS, begin);
  strands.begin(startMs, () => history(world, strands, workingTime(startMs, endMs)));
  let count = 0;
  for (const { atMs, change: made } of strands.play()) {
    count += 1;
    const change = { id: String(count), company, at: isoTime(atMs), ...made };
    yield { change, records: census.count() };
  }
}

/** The state before the history begins: all people, all forms and the first customers. */
function founding(world: World): ((atMs: number) => Strand)[] {
  const { peopleCount, formCount, customerCount } = foundingCounts(world.census.countMax);
  return [
    ...Array.from({ length: peopleCount }, () => (atMs: number) => person(world, atMs)),
    ...formPlans.slice(0, formCount).map((plan) => (atMs: number) => formStrand(world, atMs, plan)),
    ...Array.from({ length: customerCount }, (_, place) => (atMs: number) => customer(world, atMs, place)),
  ];
}

/** A company of two thousand records has eight people; one of a million has two hundred. */
function foundingCounts(countMax: number): { peopleCount: number; formCount: number; customerCount: number } {
  return {
    peopleCount: Math.min(200, Math.max(Math.min(6, Math.ceil(countMax / 10)), Math.ceil(countMax / 250))),
    formCount: Math.ceil(countMax / 40),
    customerCount: Math.min(24, Math.ceil(countMax / 20)),
  };
}

/** The arrivals, as fast as it takes for the last record to be made on the last day. */
function* history(world: World, strands: Strands, time: WorkingTime): Strand {
  const { census } = world;
  const foundedCount = census.count();
  while (!census.isFull()) {
    const share = (census.count() - foundedCount) / (census.countMax - foundedCount);
    const atMs = yield time.at(share);
    strands.begin(atMs, (beginMs) => arrival(world, beginMs, census.scarcest()));
    // Work that has just begun is counted before more arrives.
    yield atMs + 1;
  }
}
