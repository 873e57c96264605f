import type { Resource, ResourceRecord, RecordOf } from '../../../src/contract/records.ts';
import type { ListedRecord, Query } from './_crawl.ts';

/** A question to a list: its path and its query. */
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

/**
 * The records of a list, whole and in order, worked out in memory from the contract's
 * parameters and filters (openapi.yaml, "Requests and answers").
 */
export function expectedList(
  records: readonly ResourceRecord[],
  { path, query }: Question,
  present: Present,
): ListedRecord[] {
  return listed(records, path, query, present).sort((a, b) =>
    Buffer.compare(Buffer.from(a.id, 'utf8'), Buffer.from(b.id, 'utf8')),
  );
}

function listed(
  records: readonly ResourceRecord[],
  path: string,
  query: Query,
  present: Present,
): ListedRecord[] {
  const since = (time: string) =>
    query.updatedSince === undefined || nanosecondsOf(time) >= nanosecondsOf(query.updatedSince);
  const formId = /^api\/v1\/forms\/([^/]+)\/submissions$/.exec(path)?.[1];
  if (formId !== undefined)
    return all(records, 'submissions').filter((one) => one.formId === formId && since(one.createdAt));
  switch (path) {
    case 'api/v1/people':
      return all(records, 'people');
    case 'api/v1/jobs':
      return all(records, 'jobs').filter(({ updatedAt }) => since(updatedAt));
    case 'api/v1/forms':
      return all(records, 'forms').filter(({ updatedAt }) => since(updatedAt));
    case 'api/v1/customers':
      return all(records, 'customers').filter(({ updatedAt }) => since(updatedAt));
    case 'api/v1/invoices':
      return all(records, 'invoices')
        .filter((invoice) => since(invoice.updatedAt) && isWantedInvoice(invoice, query))
        .map((invoice) => without(invoice, invoiceDetails));
    case 'api/v1/quotes':
      return wantedQuotes(all(records, 'quotes'), query, present).filter(({ updatedAt }) => since(updatedAt));
    default:
      throw new Error(`There is no list ${path}.`);
  }
}

function all<R extends Resource>(records: readonly ResourceRecord[], resource: R): RecordOf[R][] {
  // The name of the resource says which record it is.
  return records.filter((one) => one.resource === resource).map(({ record }) => record as RecordOf[R]);
}

function isWantedInvoice(invoice: RecordOf['invoices'], query: Query): boolean {
  const { kind, status = 'issued', customer } = query;
  if (kind !== undefined && invoice.kind !== kind) return false;
  if (status !== 'all' && invoice.status !== status) return false;
  if (customer !== undefined && invoice.customer.id !== customer) return false;
  return isIssuedWithin(invoice.issueDate, query);
}

function isIssuedWithin(issueDate: string | null, { issuedFrom, issuedTo }: Query): boolean {
  if (issuedFrom === undefined && issuedTo === undefined) return true;
  if (issueDate === null) return false;
  return (
    (issuedFrom === undefined || issueDate >= issuedFrom) && (issuedTo === undefined || issueDate <= issuedTo)
  );
}

function wantedQuotes(
  quotes: readonly RecordOf['quotes'][],
  { status, customer, versions = 'latest' }: Query,
  present: Present,
) {
  const today = dayIn(present);
  const latest = new Map<string, number>();
  for (const { quoteGroupId, version } of quotes)
    latest.set(quoteGroupId, Math.max(version, latest.get(quoteGroupId) ?? 0));
  return quotes
    .filter((quote) => versions === 'all' || quote.version === latest.get(quote.quoteGroupId))
    .filter((quote) => customer === undefined || quote.customer.id === customer)
    .map((quote) => {
      const isExpired = quote.status === 'sent' && quote.validUntil !== null && quote.validUntil < today;
      return { ...without(quote, quoteDetails), status: isExpired ? 'expired' : quote.status };
    })
    .filter((quote) => status === undefined || quote.status === status);
}

const quoteDetails = ['note', 'buyer', 'lines'] as const;
const invoiceDetails = [
  ...quoteDetails,
  'creditNotes',
  'creditedInvoice',
  'payments',
  'amountDueMinor',
  'refunds',
  'creditBalanceMinor',
] as const;

function without<T extends object, K extends keyof T>(record: T, names: readonly K[]): Omit<T, K> {
  const left = Object.entries(record).filter(([name]) => !(names as readonly string[]).includes(name));
  return Object.fromEntries(left) as unknown as Omit<T, K>;
}

/** The calendar day in a time zone. */
export function dayIn({ now, timeZone }: Present): string {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    calendar: 'gregory',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(now);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  return `${part('year')}-${part('month')}-${part('day')}`;
}

/** An RFC 3339 time as nanoseconds since 1970; the sixtieth second of a minute is the first of the next. */
export function nanosecondsOf(time: string): bigint {
  const numbers = /^(\d+)-(\d+)-(\d+).(\d+):(\d+):(\d+)(?:\.(\d+))?(?:[Zz]|([+-])(\d+):(\d+))$/.exec(time);
  if (!numbers) throw new Error(`${time} is not a time.`);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers.slice(1, 7).map(Number);
  const offset = (Number(numbers[9] ?? 0) * 60 + Number(numbers[10] ?? 0)) * (numbers[8] === '-' ? -1 : 1);
  const seconds = Date.UTC(year, month - 1, day, hour, minute - offset, second) / 1000;
  return BigInt(seconds) * 1_000_000_000n + BigInt((numbers[7] ?? '').padEnd(9, '0'));
}
