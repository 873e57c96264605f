import type { JsonText } from '../contract/json-text.ts';
import { joinObjects } from '../contract/json-text.ts';
import type { Invoice, InvoiceSummary } from '../contract/records.ts';
import type { Engine } from './engine.ts';
import type { ReadList } from './lists.ts';
import { type Page, type PageRequest, readPage } from './pages.ts';
import { createDetailFinder, type FindRecord } from './records.ts';

const kinds = ['invoice', 'credit_note', 'pro_forma'] as const;
const statuses = ['issued', 'draft'] as const;

/** What a list of documents is narrowed to; what isn't given doesn't narrow. Bounds are inclusive. */
export interface InvoiceFilters {
  kind?: (typeof kinds)[number] | undefined;
  status: (typeof statuses)[number] | 'all';
  customer?: string | undefined;
  issuedFrom?: string | undefined;
  issuedTo?: string | undefined;
  updatedSince?: string | undefined;
}

/** Lists documents in id order (service.md, "List invoices parameters"). */
export async function listInvoices(
  read: ReadList,
  company: string,
  filters: InvoiceFilters,
  page: PageRequest,
): Promise<Page<InvoiceSummary>> {
  const { issuedFrom, issuedTo, updatedSince } = filters;
  const ranges = [
    ...(updatedSince === undefined ? [] : [{ column: 'updated_at', from: updatedSince }]),
    ...((issuedFrom ?? issuedTo) ? [{ column: 'issue_date', from: issuedFrom, to: issuedTo }] : []),
  ];
  const streams = streamsOf(filters, ranges.length > 0);
  return readPage(read, page, { table: 'invoices', company, streams, ranges });
}

/**
 * The indexes fix status before kind, so a list that leaves one open is the union of its values. All documents together
 * are a stream without blocks, which a list with ranges can't be.
 */
function streamsOf({ kind, status, customer }: InvoiceFilters, hasRanges: boolean): Record<string, string>[] {
  if (kind === undefined && status === 'all' && customer === undefined && !hasRanges) return [{}];
  return (status === 'all' ? statuses : [status]).flatMap((oneStatus) =>
    (kind === undefined ? kinds : [kind]).map((oneKind) => ({
      ...(customer === undefined ? {} : { customer }),
      status: oneStatus,
      kind: oneKind,
    })),
  );
}

/** Builds the reader of single documents with their details. */
export function createInvoiceFinder(engine: Engine): FindRecord<Invoice> {
  const find = createDetailFinder(engine, 'invoices');
  return async (company, id) => {
    const row = await find(company, id);
    // The two parts were rendered from one Invoice.
    return row && { text: joinObjects(row.body, row.detail) as JsonText<Invoice>, digest: row.digest };
  };
}
