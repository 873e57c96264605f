import { inLists, withoutParameter } from './_planting.ts';
import type { Defect } from './_proxy.ts';

const INVOICES = '/api/v1/invoices';

/** Defects in what a list holds and how its pages follow each other. */
export const listDefects: readonly Defect[] = [
  {
    name: 'two records have changed places',
    says: /differs from the example: \/data\/0\/id/,
    reply: inLists('/api/v1/jobs', (page) => {
      const [first, second, ...others] = page.data;
      return { ...page, data: [second, first, ...others].filter((job) => job !== undefined) };
    }),
  },
  {
    name: 'a list is in the opposite order',
    says: /differs from the example: \/data\/0\/id/,
    reply: inLists('/api/v1/people', (page) => ({ ...page, data: page.data.toReversed() })),
  },
  {
    name: 'a list shows a record otherwise than its own path',
    within: /a list shows a record as/,
    says: /\/api\/v1\/invoices\/[0-9a-f-]+: \/buyerReference/,
    reply: inLists(INVOICES, (page, query) =>
      query.get('status') === 'all' && query.size === 1
        ? { ...page, data: page.data.map((invoice) => ({ ...invoice, buyerReference: 'Old' })) }
        : page,
    ),
  },
  {
    name: 'nextCursor ends a list too early',
    within: /the pages of a list/,
    says: /the records are/,
    reply: inLists(INVOICES, (page, query) =>
      query.get('limit') === '3' ? { ...page, nextCursor: null } : page,
    ),
  },
  {
    name: 'nextCursor leads to an empty page',
    within: /listCustomers/,
    says: /nextCursor leads past the last record|differs from the example: \/nextCursor/,
    reply: inLists('/api/v1/customers', (page) => ({
      ...page,
      nextCursor: page.nextCursor ?? '1aaaaaaaaaaaaaaaaaa',
    })),
  },
  {
    name: 'nextCursor is the one of this page',
    within: /listInvoices/,
    says: /nextCursor never becomes null|differs from the example: \/nextCursor/,
    reply: inLists(INVOICES, (page, query) => ({
      ...page,
      nextCursor: page.nextCursor === null ? null : (query.get('cursor') ?? page.nextCursor),
    })),
  },
  {
    name: 'a page is one record too long',
    within: /the pages of a list/,
    says: /a page has 4 records/,
    request: (request) => ({ ...request, target: request.target.replace(/limit=3\b/, 'limit=4') }),
  },
  {
    name: 'a page misses its last record',
    within: /the pages of a list/,
    says: /a page before the last has|the records are/,
    reply: inLists('/api/v1/forms', (page) =>
      page.nextCursor === null ? page : { ...page, data: page.data.slice(0, -1) },
    ),
  },
  {
    name: 'a page begins with the last record of the page before',
    within: /the pages of a list/,
    says: /the records are/,
    reply: (reply, request, again) => {
      const page = inLists('/api/v1/customers', (body, query) =>
        query.has('cursor') && query.get('limit') === '2'
          ? { ...body, data: [body.data[0], ...body.data].slice(0, 2) }
          : body,
      );
      return page(reply, request, again, undefined as never);
    },
  },
  {
    name: 'limit is ignored',
    says: /differs from the example|a page has/,
    request: withoutParameter('limit'),
  },
  {
    name: 'a page has five records unless told',
    says: /differs from the example/,
    request: (request) =>
      request.target === '/api/v1/jobs' ? { ...request, target: '/api/v1/jobs?limit=5' } : request,
  },
  ...['kind', 'status', 'customer', 'issuedFrom', 'issuedTo', 'updatedSince', 'versions'].map((name) => ({
    name: `the filter ${name} is ignored`,
    within: /listInvoices|listQuotes/,
    says: /differs from the example|the records are/,
    request: withoutParameter(name),
  })),
  {
    name: 'issuedTo leaves its own day out',
    within: /a filtered list is/,
    says: /issuedTo=.*the records are/,
    reply: inLists(INVOICES, (page, query) => ({
      ...page,
      data: page.data.filter(({ issueDate }) => issueDate === null || issueDate !== query.get('issuedTo')),
    })),
  },
  {
    name: 'updatedSince leaves its own moment out',
    within: /a filtered list is/,
    says: /updatedSince=.*the records are/,
    reply: inLists('/api/v1/quotes', (page, query) => ({
      ...page,
      data: page.data.filter(({ updatedAt }) => updatedAt !== query.get('updatedSince')),
    })),
  },
  {
    name: 'two filters together widen the list',
    within: /a filtered list is/,
    says: /kind=.*the records are/,
    request: (request) =>
      request.target.includes('kind=') && request.target.includes('issuedFrom=')
        ? withoutParameter('kind')(request, undefined as never)
        : request,
  },
  {
    name: 'drafts are listed without being asked for',
    within: /listInvoices/,
    says: /differs from the example/,
    request: (request) =>
      request.target === INVOICES ? { ...request, target: `${INVOICES}?status=all` } : request,
  },
  {
    name: 'an unknown parameter is ignored',
    says: /the status is 200, not 400/,
    request: withoutParameter('limti'),
  },
  {
    name: 'a cursor of another list is taken',
    says: /the status is 200, not 400/,
    request: (request) =>
      request.target.startsWith('/api/v1/people?cursor=1')
        ? { ...request, target: '/api/v1/people' }
        : request,
  },
];
