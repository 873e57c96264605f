import type { RecordOf, Resource, ResourceRecord } from '../../../src/contract/records.ts';
import { operations, successOf } from '../../contract/_contract.ts';
import type { ListedRecord as AnyRecord } from '../../contract/_exam.ts';
import { keptBy } from '../../contract/_filters.ts';
import type { ListedRecord, Query } from './_crawl.ts';

export interface Question {
  /** Path of the list below the server's address. */
  path: string;
  query: Query;
}

/** When, and in whose calendar, a list is asked. */
export interface Present {
  now: Date;
  timeZone: string;
}

/** The records of a list, whole and in order, worked out in memory from the contract. */
export function expectedList(
  records: readonly ResourceRecord[],
  { path, query }: Question,
  present: Present,
): ListedRecord[] {
  const operation = operations.find((one) =>
    new RegExp(`^${one.path.replace(/\{\w+\}/, '[^/]+')}$`).test(`/${path}`),
  );
  if (!operation) throw new Error(`There is no list ${path}.`);
  const [, , resource = '', formId] = path.split('/');
  const members = Object.keys(successOf(operation).schema.properties?.['data']?.items?.properties ?? {});
  const today = dayIn(present);
  const listed = records
    .filter((one) => one.resource === (formId === undefined ? resource : 'submissions'))
    .map(({ record }) => shownOn(today, record))
    .filter((record) => formId === undefined || record['formId'] === formId)
    .map((record) => Object.fromEntries(Object.entries(record).filter(([name]) => members.includes(name))));
  // A list shows the id of each record.
  return keptBy(operation.operationId, query, listed as AnyRecord[]).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** A sent quote reads as expired once its last valid day is over. */
function shownOn(today: string, record: RecordOf[Resource]): Record<string, unknown> {
  const isOver = 'validUntil' in record && record.validUntil !== null && record.validUntil < today;
  return { ...record, ...(isOver && record.status === 'sent' && { status: 'expired' }) };
}

/** The calendar day in a time zone, in the form of ISO 8601, which Sweden writes too. */
function dayIn({ now, timeZone }: Present): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone }).format(now);
}
