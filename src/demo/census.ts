import type { Resource } from '../contract/records.ts';

/** The shares of the records that arrive over time. Other resources have few records, which are there from the start. */
const shares = {
  jobs: 0.35,
  submissions: 0.3,
  invoices: 0.2,
  quotes: 0.1,
  customers: 0.05,
} as const satisfies Partial<Record<Resource, number>>;

export type ArrivingResource = keyof typeof shares;

const arrivingResources = Object.keys(shares) as [ArrivingResource, ...ArrivingResource[]];

/** Counts the records, so that there are exactly as many as asked for. */
export interface Census {
  countMax: number;
  /** Counts one more record; false if there are enough, and it must not be made. */
  admit(resource: Resource): boolean;
  /** The resource that is furthest below its share. */
  scarcest(): ArrivingResource;
  isFull(): boolean;
  count(): number;
}

export function createCensus(countMax: number): Census {
  const counts = new Map<Resource, number>();
  let count = 0;
  const lack = (resource: ArrivingResource) => shares[resource] * (count + 1) - (counts.get(resource) ?? 0);

  return {
    countMax,
    admit(resource) {
      if (count >= countMax) return false;
      count += 1;
      counts.set(resource, (counts.get(resource) ?? 0) + 1);
      return true;
    },
    scarcest: () => arrivingResources.reduce((first, other) => (lack(other) > lack(first) ? other : first)),
    isFull: () => count >= countMax,
    count: () => count,
  };
}
