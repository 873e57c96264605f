import { type RecordOf, type Resource, resources } from '../../src/contract/records.ts';
import { examplesOf } from '../../src/demo/example-company.ts';

/** In the order of their ids, as lists have them. */
export function byId<R extends { id: string }>(records: readonly R[]): R[] {
  return records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

export const company = Object.fromEntries(
  resources.map((resource) => [resource, byId(examplesOf(resource))]),
) as { [R in Resource]: RecordOf[R][] };
