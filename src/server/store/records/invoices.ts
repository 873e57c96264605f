import type { JsonText } from '../../../contract/json-text.ts';
import { joinObjects } from '../../../contract/json-text.ts';
import type { QueryParameters } from '../../../contract/operations.ts';
import type { Invoice, InvoiceSummary } from '../../../contract/records.ts';
import type { Connection } from '../dialects/dialect.ts';
import { type Found, type ListPage, type PageRequest, readPage, type ListSelection } from '../lists/lists.ts';
import { findDetailed } from './records.ts';

const kinds = ['invoice', 'credit_note', 'pro_forma'] as const;
const statuses = ['issued', 'draft'] as const;

/** The filters of a document list; bounds are inclusive. */
export type InvoiceFilters = Omit<QueryParameters<'listInvoices'>, 'limit' | 'cursor'>;

/** Returns a page of documents in id order (openapi.yaml, `listInvoices`). */
export async function invoicesPage(
  db: Connection,
  company: string,
  filters: InvoiceFilters,
  page: PageRequest,
): Promise<ListPage<InvoiceSummary>> {
  const { issuedFrom, issuedTo, updatedSince } = filters;
  const ranges = [
    ...(updatedSince === undefined ? [] : [{ column: 'updated_at', from: updatedSince }]),
    ...((issuedFrom ?? issuedTo) ? [{ column: 'issue_date', from: issuedFrom, to: issuedTo }] : []),
  ];
  return readPage(db, page, { table: 'invoices', company, among: columnsOf(filters), ranges });
}

/** Returns the column values that filters allow. The index has status before kind, so an open filter becomes all values. */
function columnsOf({ kind, status, customer }: InvoiceFilters): ListSelection['among'] {
  if (kind === undefined && status === 'all' && customer === undefined) return {};
  return {
    ...(customer === undefined ? {} : { customer: [customer] }),
    status: status === 'all' ? statuses : [status],
    kind: kind === undefined ? kinds : [kind],
  };
}

/** Returns one document with its details; undefined when the company has none with that id. */
export async function findInvoice(
  db: Connection,
  company: string,
  id: string,
): Promise<Found<Invoice> | undefined> {
  const row = await findDetailed(db, 'invoices', company, id);
  // Both parts were rendered from one Invoice.
  return row && { body: joinObjects(row.body, row.detail) as JsonText<Invoice>, digest: row.digest };
}
