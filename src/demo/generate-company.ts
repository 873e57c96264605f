import type { ResourceRecord } from '../contract/records.ts';
import { createAgenda } from './agenda.ts';
import { DAY_MS, HOUR_MS, createStamps, startOfDay, workingTime } from './calendar.ts';
import { createCensus } from './census.ts';
import { found } from './founding.ts';
import { createIds } from './ids.ts';
import { createRandom } from './random.ts';
import { arrivals } from './arrivals.ts';
import type { World } from './world.ts';

export interface CompanyOptions {
  /** How many records there are in all, of every resource together. */
  records: number;
  /** Where the two years of the company's history end. */
  now: Date;
  /** Another seed gives another company. */
  seed?: number;
}

const historyDays = 730;
const foundingDays = 30;

/**
 * A company's records, one at a time in the order of their creation, which is that of their ids. The same options give
 * the same records. Every reference leads to a record that comes too, earlier or later; what is kept in memory
 * meanwhile is plans for some weeks and never the records, so that memory hardly grows with their number.
 */
export function* generateCompany({ records, now, seed = 1 }: CompanyOptions): Generator<ResourceRecord> {
  // What is recorded in the last hour could carry a stamp that lies beyond the end.
  const nowMs = now.getTime() - HOUR_MS;
  const startMs = startOfDay(nowMs) - historyDays * DAY_MS;
  const census = createCensus(records);
  const stamps = createStamps();
  const agenda = createAgenda(nowMs, stamps, (resource) => census.admit(resource));
  const world: World = { random: createRandom(seed), ids: createIds(seed), stamps, agenda, nowMs };

  const founded = found(world, census, startMs - foundingDays * DAY_MS);
  yield* founded.records;
  if (!founded.crew) return;
  const makeArrival = arrivals(world, founded.crew, founded.customers);
  const history = workingTime(startMs, nowMs);
  const foundedCount = founded.records.length;
  const arrivalAfter = (lastMs: number) => {
    if (census.isFull()) return undefined;
    const share = (census.count() - foundedCount) / (records - foundedCount);
    return stamps.claim(Math.max(history.at(share), lastMs + 1));
  };

  let arrivalMs = arrivalAfter(startMs);
  for (;;) {
    const plannedMs = agenda.nextAtMs();
    if (arrivalMs !== undefined && (plannedMs === undefined || arrivalMs < plannedMs)) {
      yield makeArrival(census.admitScarcest(), arrivalMs);
      stamps.forgetBefore(arrivalMs);
      arrivalMs = arrivalAfter(arrivalMs);
    } else {
      const planned = agenda.makeNext();
      if (!planned) return;
      yield planned;
    }
    // The plans of the record that came last may have taken the place that the next arrival had.
    if (census.isFull()) arrivalMs = undefined;
  }
}
