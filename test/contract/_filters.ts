import { type DeclaredOperation, operationOf } from './_contract.ts';
import type { ListedRecord } from './_exam.ts';

/** Filters by name; one that isn't given is undefined. */
export type Query = Readonly<Record<string, string | undefined>>;

/** Which records of a whole list each filter keeps; no list takes two filters of one name that mean different things. */
const rules: Record<string, (record: ListedRecord, value: string, all: readonly ListedRecord[]) => boolean> =
  {
    kind: ({ kind }, value) => kind === value,
    status: ({ status }, value) => value === 'all' || status === value,
    customer: ({ customer }, value) => (customer as { id: string }).id === value,
    issuedFrom: ({ issueDate }, value) => typeof issueDate === 'string' && issueDate >= value,
    issuedTo: ({ issueDate }, value) => typeof issueDate === 'string' && issueDate <= value,
    updatedSince: (record, value) => nanosecondsOf(changedAt(record)) >= nanosecondsOf(value),
    versions: (record, value, all) => value === 'all' || isLatest(record, all),
  };

/** The records that a query leaves of a whole list. What isn't given counts with the contract's default. */
export function keptBy<R extends ListedRecord>(
  operationId: string,
  query: Query,
  records: readonly R[],
): R[] {
  const given = Object.entries({ ...defaultsOf(operationOf(operationId)), ...query });
  const wanted = given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return records.filter((record) => wanted.every(([name, value]) => rules[name]?.(record, value, records)));
}

const filtersIn = ({ parameters }: DeclaredOperation) =>
  parameters.filter(({ in: place, name }) => place === 'query' && name !== 'limit' && name !== 'cursor');

/** The values that filters have when they aren't given. */
export function defaultsOf(operation: DeclaredOperation): Record<string, string> {
  const defaults = filtersIn(operation).flatMap(({ name, schema: { default: value } }) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  return Object.fromEntries(defaults);
}

/** A filter of a list, and values to ask it with. */
export interface Filter {
  name: string;
  values: readonly string[];
}

/** Every filter that a list takes, with each value of a closed set and otherwise those that some record has. */
export function filtersOf(operationId: string, records: readonly ListedRecord[]): Filter[] {
  return filtersIn(operationOf(operationId)).map(({ name, schema }) => ({
    name,
    values: schema.enum ?? valuesOf(name, records),
  }));
}

function valuesOf(name: string, records: readonly ListedRecord[]): string[] {
  if (name === 'customer')
    return [...distinct(records.map(({ customer }) => (customer as { id: string }).id)), 'cus_9999'];
  if (name !== 'updatedSince')
    return [...distinct(records.flatMap(({ issueDate }) => issueDate as string | null)), '2099-12-31'];
  return distinct(records.map(changedAt)).flatMap((time) => [
    time,
    new Date(Date.parse(time) + 1).toISOString(),
  ]);
}

const distinct = (values: (string | null)[]) => [...new Set(values.filter((value) => value !== null))];

/** When a record was last changed: a submission never is after it was made. */
export function changedAt({ updatedAt, createdAt }: ListedRecord): string {
  return String(updatedAt ?? createdAt);
}

/** The latest version of each group of a whole list, which is gone through once. */
const latestVersions = new WeakMap<readonly ListedRecord[], Map<unknown, number>>();

function isLatest({ quoteGroupId, version }: ListedRecord, all: readonly ListedRecord[]): boolean {
  const latest = latestVersions.get(all) ?? new Map<unknown, number>();
  if (latest.size === 0)
    for (const other of all)
      latest.set(other.quoteGroupId, Math.max(Number(other.version), latest.get(other.quoteGroupId) ?? 0));
  latestVersions.set(all, latest);
  return latest.get(quoteGroupId) === version;
}

/** An RFC 3339 time as nanoseconds since 1970; the sixtieth second of a minute is the first of the next. */
function nanosecondsOf(time: string): bigint {
  const numbers = /^(\d+)-(\d+)-(\d+).(\d+):(\d+):(\d+)(?:\.(\d+))?(?:[Zz]|([+-])(\d+):(\d+))$/.exec(time);
  if (!numbers) throw new Error(`${time} is not a time.`);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers.slice(1, 7).map(Number);
  const offset = (Number(numbers[9] ?? 0) * 60 + Number(numbers[10] ?? 0)) * (numbers[8] === '-' ? -1 : 1);
  const seconds = Date.UTC(year, month - 1, day, hour, minute - offset, second) / 1000;
  return BigInt(seconds) * 1_000_000_000n + BigInt((numbers[7] ?? '').padEnd(9, '0'));
}
