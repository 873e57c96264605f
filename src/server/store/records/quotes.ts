import type { JsonText } from '../../../contract/json-text.ts';
import { joinObjects } from '../../../contract/json-text.ts';
import type { QueryParameters } from '../../../contract/operations.ts';
import type { Quote, QuoteSummary } from '../../../contract/records.ts';
import type { Connection } from '../dialects/dialect.ts';
import {
  type Found,
  type ListPage,
  type PageRequest,
  type Range,
  readPage,
  type ListSelection,
} from '../lists/lists.ts';
import { findDetailed } from './records.ts';

const latestStatuses = ['draft', 'sent', 'accepted', 'declined'] as const;

/** The filters of a quote list. */
export type QuoteFilters = Omit<QueryParameters<'listQuotes'>, 'limit' | 'cursor'>;

/**
 * Returns a page of quotes in id order (openapi.yaml, `listQuotes`).
 *
 * A quote past its validity stays stored as `sent`, but is returned as `expired` from the next day: `today` is the company's
 * calendar day, `YYYY-MM-DD`. A quote's latest version is its one version that is not `revised` (see the migration).
 */
export async function quotesPage(
  db: Connection,
  company: string,
  today: string,
  filters: QuoteFilters,
  page: PageRequest,
): Promise<ListPage<QuoteSummary>> {
  const selection = { table: 'quotes', company, ...conditionsOf(filters, today) } as const;
  const { records, lastId } = await readPage<QuoteSummary>(db, page, selection);
  return { records: records.map((quote) => asOf(quote, today)), lastId };
}

function conditionsOf(
  { status, customer, updatedSince, versions }: QuoteFilters,
  today: string,
): Pick<ListSelection, 'among' | 'ranges'> {
  const ranges: Range[] = updatedSince === undefined ? [] : [{ column: 'updated_at', from: updatedSince }];
  if (status === 'expired') ranges.push({ column: 'valid_until', to: dayBefore(today) });
  if (status === 'sent') ranges.push({ column: 'valid_until', from: today });
  if (status === undefined && customer === undefined && versions === 'all') return { among: {}, ranges };
  const among = {
    ...(customer === undefined ? {} : { customer: [customer] }),
    status: storedStatuses(status, versions),
  };
  return { among, ranges };
}

/** Returns the statuses, as stored, of the quotes that a filter selects. */
function storedStatuses(status: QuoteFilters['status'], versions: QuoteFilters['versions']): string[] {
  if (status === 'revised') return versions === 'latest' ? [] : ['revised'];
  if (status === 'expired') return ['sent'];
  if (status !== undefined) return [status];
  return versions === 'latest' ? [...latestStatuses] : [...latestStatuses, 'revised'];
}

/** Returns one version of a quote as of a company's calendar day; undefined when the company has none with that id. */
export async function findQuote(
  db: Connection,
  company: string,
  id: string,
  today: string,
): Promise<Found<Quote> | undefined> {
  const row = await findDetailed(db, 'quotes', company, id);
  if (!row) return undefined;
  const { body, digest } = asOf(row, today);
  // Both parts were rendered from one Quote.
  return { body: joinObjects(body, row.detail) as JsonText<Quote>, digest };
}

const SENT = '"status":"sent"';
const VALID_UNTIL = /"validUntil":"(\d{4}-\d{2}-\d{2})"/;

/**
 * Returns a quote's summary as of a day; an expired one gets its own digest. Neither pattern can match inside a JSON
 * string, whose quotation marks are escaped, and no other member of a quote's summary has these names.
 */
function asOf<T>(found: Found<T>, today: string): Found<T> {
  const { body, digest } = found;
  if (!body.includes(SENT)) return found;
  const validUntil = VALID_UNTIL.exec(body)?.[1];
  if (validUntil === undefined || validUntil >= today) return found;
  const expired = body.replace(SENT, '"status":"expired"') as JsonText<T>;
  return { body: expired, digest: `${digest}-expired` };
}

function dayBefore(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - 1);
  return date.toISOString().slice(0, 10);
}
