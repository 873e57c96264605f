import type { Resource } from './records.ts';

/** A record as it is stored: of this contract, or of an earlier one. */
export type StoredRecord = Readonly<Record<string, unknown>>;

/**
 * For each resource, how a stored record of an earlier contract becomes one of this contract. A new required member needs
 * an entry, for example
 *
 *     jobs: (job) => ({ priority: 'normal', ...job }),
 *
 * Everything else needs none: an optional member may be missing, and the contract gives the order of members. A function
 * gets records of all earlier contracts, and some of this one. It leaves these as they are.
 */
const upgrades: Partial<Record<Resource, (record: StoredRecord) => StoredRecord>> = {};

/** A stored record as this contract has it, as far as we know how; `renderRecord` has the last word. */
export function upgradeRecord(resource: Resource, record: StoredRecord): StoredRecord {
  return upgrades[resource]?.(record) ?? record;
}
