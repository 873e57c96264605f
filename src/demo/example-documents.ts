import { asDraft } from '../server/backoffice/document-lines.ts';
import type { NewInvoice } from '../contract/feed.ts';
import type { Invoice, Quote } from '../contract/records.ts';
import { examplesOf, pick, type Told } from './example-company.ts';
import { jobAtFirst } from './example-work.ts';

/** When the versions of quotes were sent; the examples tell the day. */
const sentAt: Record<string, string> = {
  'Q-2026-0001/1': '2026-09-08T10:26:41.902Z',
  'Q-2026-0002/1': '2026-09-24T11:52:08.317Z',
  'Q-2026-0002/2': '2026-10-05T09:34:55.640Z',
  'Q-2026-0002/3': '2026-10-22T13:58:23.071Z',
  'Q-2026-0003/1': '2026-09-29T14:31:17.463Z',
  'Q-2026-0004/1': '2026-10-01T12:15:36.100Z',
  'Q-2026-0005/1': '2026-11-11T09:00:18.555Z',
};

/** When money was recorded; the examples tell the day, and of the last thing that happened to an invoice the time. */
const movedAt: Record<string, string> = {
  pay_0002: '2026-10-12T06:05:44.186Z',
  pay_0004: '2026-11-10T14:27:30.825Z',
};

/** The quotes, what became of them, the invoices, the credit notes, the pro formas, and the money. */
export function documentChanges(): Told[] {
  return [...examplesOf('quotes').flatMap(quoteChanges), ...examplesOf('invoices').flatMap(invoiceChanges)];
}

function quoteChanges(quote: Quote): Told[] {
  const { id, number, version, status, respondedAt } = quote;
  const sent = sentAt[`${number}/${version}`];
  const told: Told[] = [quoteDrafted(quote)];
  if (sent) told.push({ at: sent, change: 'quote.send', with: { id } });
  else told.push({ at: quote.updatedAt, change: 'quote.edit', with: { id, lines: asDraft(quote.lines) } });
  if (respondedAt) {
    told.push({
      at: respondedAt,
      change: status === 'accepted' ? 'quote.accept' : 'quote.decline',
      with: { id },
    });
  }
  return [...told, ...conversions(quote)];
}

function quoteDrafted(quote: Quote): Told {
  const { id, supersedesQuoteId, quoteGroupId, customer, createdAt: at, status } = quote;
  const draft = {
    ...pick(quote, 'title', 'siteId', 'validUntil', 'buyerReference', 'note'),
    lines: status === 'draft' ? [] : asDraft(quote.lines),
  };
  return supersedesQuoteId === null
    ? { at, change: 'quote.draft', with: { id, quoteGroupId, customerId: customer.id, ...draft } }
    : { at, change: 'quote.revise', with: { id: supersedesQuoteId, newId: id, ...draft } };
}

function conversions({ id, convertedJobId, convertedInvoiceId }: Quote): Told[] {
  return [
    ...examplesOf('jobs')
      .filter((job) => job.id === convertedJobId)
      .map((job): Told => ({
        at: job.createdAt,
        change: 'quote.convert_to_job',
        with: { id, job: jobAtFirst(job) },
      })),
    ...examplesOf('invoices')
      .filter((invoice) => invoice.id === convertedInvoiceId)
      .map((invoice): Told => ({
        at: invoice.createdAt,
        change: 'quote.convert_to_invoice',
        with: { id, invoice: { id: invoice.id, ...membersOf(invoice) } },
      })),
  ];
}

function invoiceChanges(invoice: Invoice): Told[] {
  const { id, status, issuedAt, updatedAt, payments = [], refunds = [] } = invoice;
  const told: Told[] = isConverted(invoice) ? [] : [invoiceDrafted(invoice)];
  if (issuedAt) told.push({ at: issuedAt, change: 'invoice.issue', with: { id } });
  if (status === 'draft') {
    told.push({ at: updatedAt, change: 'invoice.edit', with: { id, lines: asDraft(invoice.lines) } });
  }
  for (const payment of payments) {
    const at = movedAt[payment.id] ?? updatedAt;
    told.push({ at, change: 'payment.record', with: { invoiceId: id, ...payment } });
  }
  for (const refund of refunds) {
    const at = movedAt[refund.id] ?? updatedAt;
    told.push({ at, change: 'refund.record', with: { invoiceId: id, ...refund } });
  }
  return told;
}

function isConverted({ id }: Invoice): boolean {
  return examplesOf('quotes').some(({ convertedInvoiceId }) => convertedInvoiceId === id);
}

/** A document that is still a draft was drafted without its lines. */
function invoiceDrafted(invoice: Invoice): Told {
  const { id, kind, customer, creditsInvoiceId, status, createdAt: at } = invoice;
  const draft: NewInvoice = {
    id,
    kind,
    customerId: customer.id,
    ...(creditsInvoiceId === null ? {} : { creditsInvoiceId }),
    ...membersOf(invoice),
    ...(status === 'draft' ? { lines: [] } : {}),
  };
  return { at, change: 'invoice.draft', with: draft };
}

/** The contents of a draft; its currency and its terms are the customer's. */
function membersOf(invoice: Invoice) {
  const { accountingCurrency } = invoice;
  return {
    ...pick(
      invoice,
      'siteId',
      'supplyDate',
      'supplyPeriod',
      'buyerReference',
      'purchaseOrderReference',
      'note',
    ),
    lines: asDraft(invoice.lines),
    ...(accountingCurrency && {
      exchange: pick(accountingCurrency, 'exchangeRate', 'exchangeRateDate', 'exchangeRateSource'),
    }),
  };
}
