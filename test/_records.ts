import type { Resource, ResourceRecord } from '../src/contract/records.ts';
import { examplesOf } from '../src/demo/example-company.ts';

export const resources = [
  'people',
  'customers',
  'forms',
  'jobs',
  'submissions',
  'invoices',
  'quotes',
] as const satisfies Resource[];

/** Every record of the example company, each once, as it is stored. */
export function exampleRecords(): ResourceRecord[] {
  return resources.flatMap((resource) =>
    // A resource and a record of it belong together.
    examplesOf(resource).map((record) => asStored({ resource, record } as ResourceRecord)),
  );
}

/** An expired quote is stored as it was sent: it reads as expired because its last valid day is over. */
function asStored(record: ResourceRecord): ResourceRecord {
  if (record.resource !== 'quotes' || record.record.status !== 'expired') return record;
  return { ...record, record: { ...record.record, status: 'sent' } };
}
