import { declaredOperation } from './_declared.ts';
import type { ReadRecord } from './_reading.ts';

/** Filters by name; one that isn't given is undefined. */
export type Query = Record<string, string | undefined>;
type Keeps = (record: ReadRecord, value: string, all: readonly ReadRecord[]) => boolean;

const customerIs: Keeps = (record, value) => (record['customer'] as { id: string }).id === value;
const changedSince: Keeps = (record, value) => text(record['updatedAt']) >= value;

/** The records that each filter keeps of a whole list. */
const filters: Record<string, Record<string, Keeps>> = {
  listJobs: { updatedSince: changedSince },
  listForms: { updatedSince: changedSince },
  listCustomers: { updatedSince: changedSince },
  listFormSubmissions: { updatedSince: (record, value) => text(record['createdAt']) >= value },
  listPeople: {},
  listInvoices: {
    kind: (record, value) => record['kind'] === value,
    status: (record, value) => value === 'all' || record['status'] === value,
    customer: customerIs,
    issuedFrom: (record, value) => record['issueDate'] !== null && text(record['issueDate']) >= value,
    issuedTo: (record, value) => record['issueDate'] !== null && text(record['issueDate']) <= value,
    updatedSince: changedSince,
  },
  listQuotes: {
    status: (record, value) => record['status'] === value,
    customer: customerIs,
    versions: (record, value, all) => value === 'all' || isLatest(record, all),
    updatedSince: changedSince,
  },
};

/** The values that a filter has when it isn't given. */
const defaults: Record<string, Query> = {
  listInvoices: { status: 'issued' },
  listQuotes: { versions: 'latest' },
};

/** A filter of a list, and values to ask it with. */
export interface Filter {
  name: string;
  values: readonly string[];
}

/** The records that a query leaves of a whole list. */
export function keptBy(operationId: string, query: Query, records: readonly ReadRecord[]): ReadRecord[] {
  const given: Query = { ...defaults[operationId], ...query };
  return records.filter((record) =>
    Object.entries(given).every(
      ([name, value]) => value === undefined || filters[operationId]?.[name]?.(record, value, records),
    ),
  );
}

/** The value that a filter has when it isn't given, if there is one. */
export function defaultOf(operationId: string, name: string): string | undefined {
  return defaults[operationId]?.[name];
}

/** Every filter that a list takes, with each value of a closed set and otherwise those that some record has. */
export function filtersOf(operationId: string, records: readonly ReadRecord[]): Filter[] {
  const { parameters } = declaredOperation(operationId);
  return parameters
    .filter(({ in: place, name }) => place === 'query' && name !== 'limit' && name !== 'cursor')
    .map(({ name, schema }) => ({
      name,
      values: (schema.enum as string[] | undefined) ?? valuesOf(name, records),
    }));
}

/** Values at the very edge of each record, and one that no record has. */
function valuesOf(name: string, records: readonly ReadRecord[]): string[] {
  const found = records.map((record) => {
    if (name === 'customer') return text((record['customer'] as { id: string }).id);
    if (name === 'updatedSince') return text(record['updatedAt'] ?? record['createdAt']);
    return record['issueDate'];
  });
  const distinct = [...new Set(found.filter((value) => typeof value === 'string'))];
  if (name === 'customer') return [...distinct, 'cus_9999'];
  if (name !== 'updatedSince') return [...distinct, '2099-12-31'];
  const justAfter = distinct.map((time) => new Date(Date.parse(time) + 1).toISOString());
  return distinct.flatMap((time, index) => [time, justAfter[index] ?? time]);
}

function isLatest(record: ReadRecord, all: readonly ReadRecord[]): boolean {
  const versions = all.filter((other) => other['quoteGroupId'] === record['quoteGroupId']);
  return versions.every((other) => Number(other['version']) <= Number(record['version']));
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error(`${JSON.stringify(value)} is not text.`);
  return value;
}
