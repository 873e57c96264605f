import type { Resource } from '../contract/records.ts';

/** Of all records but the people and the forms, who are few and there from the start. */
const shares = { jobs: 0.35, submissions: 0.3, invoices: 0.2, quotes: 0.1, customers: 0.05 } as const;

export type ArrivingResource = keyof typeof shares;

const arrivingResources = Object.keys(shares) as [ArrivingResource, ...ArrivingResource[]];

/** Counts the records, so that there are exactly as many as asked for. */
export interface Census {
  /** The number asked for. */
  countMax: number;
  /** Counts one more; false, and it must not come, when there are enough. */
  admit(resource: Resource): boolean;
  /** The resource that lacks most to its share. */
  scarcest(): ArrivingResource;
  isFull(): boolean;
  count(): number;
}

export function createCensus(countMax: number): Census {
  const counts: Record<Resource, number> = {
    people: 0,
    customers: 0,
    forms: 0,
    jobs: 0,
    submissions: 0,
    invoices: 0,
    quotes: 0,
  };
  let count = 0;
  const lack = (resource: ArrivingResource) => shares[resource] * (count + 1) - counts[resource];

  return {
    countMax,
    admit(resource) {
      if (count >= countMax) return false;
      count += 1;
      counts[resource] += 1;
      return true;
    },
    scarcest: () => arrivingResources.reduce((first, other) => (lack(other) > lack(first) ? other : first)),
    isFull: () => count >= countMax,
    count: () => count,
  };
}
