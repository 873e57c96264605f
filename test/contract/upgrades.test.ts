import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

import { type Resource, schemaNames } from '../../src/contract/records.ts';
import { renderStored } from '../../src/contract/render.ts';
import { readContract } from './_contract-files.ts';

const releases = join(import.meta.dirname, 'released');

interface Released {
  components: { examples: Record<string, { 'x-request'?: string; value: { data: unknown } }> };
}

function releasedRecords(release: string): { resource: Resource; record: { id: string } }[] {
  const { components } = readContract(join(releases, release))['openapi.yaml'] as unknown as Released;
  return Object.values(components.examples).flatMap(({ 'x-request': request = '', value }) => {
    const [, list = '', submissions] = /^\/api\/v1\/(\w+)(?:\/\w+\/(submissions))?/.exec(request) ?? [];
    const resource = submissions ?? list;
    if (!Object.hasOwn(schemaNames, resource) || typeof value.data !== 'object') return [];
    const records = [value.data].flat() as { id: string; status?: string; lines?: unknown }[];
    return records
      .filter((record) => !['invoices', 'quotes'].includes(resource) || record.lines !== undefined)
      .map(({ status, ...record }) => ({
        resource: resource as Resource,
        // A quote that has expired is stored as it was sent.
        record: { ...record, ...(status && { status: status === 'expired' ? 'sent' : status }) },
      }));
  });
}

t.test('a record of each release becomes one of this contract', async (t) => {
  for (const release of readdirSync(releases)) {
    const records = releasedRecords(release);
    t.ok(records.length > 20, release);
    const problems = records.flatMap(({ resource, record }) => {
      try {
        renderStored(resource, { body: JSON.stringify(record) });
        return [];
      } catch (error) {
        return `${release}, ${resource}, ${record.id}: ${String(error)}`;
      }
    });
    t.strictSame(problems, [], 'a new required member needs an `x-before`');
  }
});
