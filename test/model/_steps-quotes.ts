/** Random moves of quotes. */
import type { ChangeContent } from '../../src/contract/feed.ts';
import type { Customer, Quote } from '../../src/contract/records.ts';
import type { ModelCompany } from './_model.ts';
import { dayNear, type Draw, idOf, onlyId, recordOf, someOf } from './_chance.ts';
import { newUuid } from './_steps-documents.ts';
import { drawLines, siteOf } from './_steps-lines.ts';
import { type Drawers, jobMade, jobMembers, newOrKnown } from './_steps-work.ts';

const quotes = ({ tables }: ModelCompany) => tables.quotes;

/** Quotes that stand in a status as stored; a sent one may be over. */
const being =
  (...statuses: Quote['status'][]) =>
  ({ status }: Quote) =>
    statuses.includes(status);

export const quoteDrawers = {
  'quote.draft': (draw) => {
    const customer = recordOf(draw, ({ tables }) => tables.customers);
    if (!customer) return undefined;
    const groups = [...draw.company.tables.quotes.values()].map(({ quoteGroupId }) => quoteGroupId);
    const taken = draw.happens(0.03) ? draw.pick(groups) : undefined;
    return {
      id: newUuid(draw, quotes),
      quoteGroupId: taken ?? draw.newUuid(),
      customerId: customer.id,
      title: draw.oneOf('Heat pump', 'New kitchen'),
      ...drawMembers(draw, customer),
    };
  },
  'quote.edit': (draw) => {
    const quote = recordOf(draw, quotes, being('draft'));
    return quote && { id: quote.id, ...someOf(draw, 0.4, drawMembers(draw, customerOf(draw, quote))) };
  },
  'quote.send': onlyId(quotes, being('draft')),
  'quote.revise': (draw) => {
    const quote = recordOf(draw, quotes, being('sent', 'declined'));
    if (!quote) return undefined;
    const members = someOf(draw, 0.5, drawMembers(draw, customerOf(draw, quote)));
    return { id: quote.id, newId: newUuid(draw, quotes), ...members };
  },
  'quote.accept': (draw) =>
    onlyId(
      quotes,
      ({ status, validUntil }) => status === 'sent' && (validUntil ?? draw.today) >= draw.today,
    )(draw),
  'quote.decline': onlyId(quotes, being('sent')),
  'quote.convert_to_job': (draw) => {
    const id = idOf(draw, quotes, ({ status, convertedJobId }) => status === 'accepted' && !convertedJobId);
    const createdBy = idOf(draw, ({ tables }) => tables.people);
    if (id === undefined || createdBy === undefined) return undefined;
    const { title, ...made } = jobMade(draw);
    const job = { ...made, ...someOf(draw, 0.3, { title }), createdBy, ...jobMembers(draw) };
    return { id, job: { id: newOrKnown(draw, ({ tables }) => tables.jobs, 'job'), ...job } };
  },
  'quote.convert_to_invoice': (draw) => {
    const quote = recordOf(
      draw,
      quotes,
      ({ status, convertedInvoiceId }) => status === 'accepted' && !convertedInvoiceId,
    );
    return quote && { id: quote.id, invoice: drawConverted(draw, quote) };
  },
} satisfies Partial<Drawers>;

function customerOf({ company }: Draw, { customer }: Partial<Quote>): Partial<Customer> {
  return company.tables.customers.get(customer?.id ?? '') ?? {};
}

function drawMembers(draw: Draw, customer: Partial<Customer>): Omit<ChangeContent<'quote.edit'>, 'id'> {
  const currency = customer.currency ?? draw.company.currency;
  const siteId = siteOf(draw, customer);
  const lines = drawLines(draw, customer, currency);
  return {
    lines,
    ...someOf(draw, 1, { siteId }),
    ...someOf(draw, 0.85, { validUntil: drawValidity(draw) }),
    ...someOf(draw, 0.1, { validUntil: null, currency: draw.oneOf('EUR', 'GBP') }),
    ...someOf(draw, 0.2, { buyerReference: draw.oneOf('Kitchen', null), note: 'Prices hold for a month.' }),
    ...someOf(draw, 0.1, { title: 'Heat pump and cylinder' }),
  };
}

/** Weeks mostly; sometimes it ends today, and sometimes it is over. */
function drawValidity(draw: Draw): string {
  const share = draw.next();
  if (share < 0.2) return draw.today;
  return share < 0.9 ? dayNear(draw, 0, 90) : dayNear(draw, 3, 0);
}

function drawConverted(
  draw: Draw,
  quote: Partial<Quote>,
): NonNullable<ChangeContent<'quote.convert_to_invoice'>['invoice']> {
  const customer = customerOf(draw, quote);
  const lines = drawLines(draw, customer, quote.currency ?? draw.company.currency);
  // A customer that has moved to another country needs other lines.
  const hasMoved = customer.countryCode !== quote.buyer?.countryCode;
  return {
    id: newUuid(draw, ({ tables }) => tables.invoices),
    ...someOf(draw, 0.25, { note: 'As quoted.', dueDate: dayNear(draw, 0, 30) }),
    ...someOf(draw, hasMoved ? 1 : 0.25, { lines }),
    ...someOf(draw, 0.05, { supplyDate: dayNear(draw, 5, 0), paymentTermsDays: 10 }),
  };
}
