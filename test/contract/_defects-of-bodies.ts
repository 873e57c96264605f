import { inBody, inRecords, inText } from './_planting.ts';
import type { Defect } from './_proxy.ts';

/** Defects in what a body says. */
export const bodyDefects: readonly Defect[] = [
  {
    name: 'a record has an undeclared member',
    says: /must NOT have unevaluated properties: companyId/,
    reply: inRecords('/api/v1/jobs', (job) => ({ ...job, companyId: 'brennan' })),
  },
  {
    name: 'an undeclared member stands beside data',
    says: /must NOT have unevaluated properties: total/,
    reply: inBody(200, (body) => ({ ...body, total: 3 })),
  },
  {
    name: 'an object inside a record has an undeclared member',
    within: /listCustomers/,
    says: /must NOT have unevaluated properties: rowId/,
    reply: inRecords('/api/v1/customers', (customer) => ({
      ...customer,
      sites: (customer['sites'] as object[]).map((site) => ({ ...site, rowId: 7 })),
    })),
  },
  {
    name: 'a required member is missing',
    says: /must have required property 'notes'/,
    reply: inRecords('/api/v1/jobs', ({ notes: _lost, ...job }) => job),
  },
  {
    name: 'null is absent',
    says: /must have required property 'nextCursor'/,
    reply: inBody(200, ({ nextCursor, ...body }) => (nextCursor === null ? body : { ...body, nextCursor })),
  },
  {
    name: 'a member that may be absent is missing where it belongs',
    says: /differs from the example: .*jobId is undefined/,
    reply: inRecords('/api/v1/forms', ({ jobId: _lost, ...submission }) => submission),
  },
  {
    name: 'a time has no Z',
    says: /updatedAt must match/,
    reply: inText(200, (text) => text.replace(/("updatedAt":"[^"]+)Z"/, '$1"')),
  },
  {
    name: 'a time has a space for its T',
    says: /createdAt must match/,
    reply: inText(200, (text) => text.replace(/("createdAt":"[\d-]+)T/, '$1 ')),
  },
  {
    name: 'a time has no milliseconds',
    says: /createdAt must match/,
    reply: inText(200, (text) => text.replace(/("createdAt":"[^".]+)\.\d+Z/, '$1Z')),
  },
  {
    name: 'a date is not in the calendar',
    within: /listInvoices/,
    says: /issueDate must match format "date"/,
    reply: inText(200, (text) => text.replace(/"issueDate":"[^"]+"/, '"issueDate":"2026-02-30"')),
  },
  {
    name: 'a number comes as text',
    within: /listQuotes/,
    says: /must be integer/,
    reply: inText(200, (text) => text.replace(/"netMinor":(-?\d+)/, '"netMinor":"$1"')),
  },
  {
    name: 'cents come as euros',
    within: /listQuotes/,
    says: /must be integer/,
    reply: inText(200, (text) => text.replace(/"grossMinor":(-?\d+)(\d\d)\b/, '"grossMinor":$1.$2')),
  },
  {
    name: 'cents are written as a float',
    within: /listQuotes/,
    says: /not the plain JSON text/,
    reply: inText(200, (text) => text.replace(/"vatMinor":(-?\d+)/, '"vatMinor":$1.0')),
  },
  {
    name: 'a member comes twice',
    says: /not the plain JSON text/,
    reply: inText(200, (text) => text.replace(/\{"id":"job_0001"/, '{"id":"job_0002","id":"job_0001"')),
  },
  {
    name: 'an issued document has no number',
    within: /listInvoices/,
    says: /differs from the example: .*number is null/,
    reply: inRecords('/api/v1/invoices', (invoice) => ({ ...invoice, number: null })),
  },
  {
    name: 'a closed set has another value',
    within: /listInvoices/,
    says: /must be equal to one of the allowed values/,
    reply: inText(200, (text) => text.replace('"status":"issued"', '"status":"paid"')),
  },
  {
    name: 'an expired quote is still sent',
    within: /listQuotes/,
    says: /differs from the example: .*status is "sent", not "expired"/,
    reply: inText(200, (text) => text.replaceAll('"status":"expired"', '"status":"sent"')),
  },
  {
    name: 'money is one cent off',
    within: /getInvoice/,
    says: /differs from the example: .*amountDueMinor/,
    reply: inRecords('/api/v1/invoices/', (invoice) => ({
      ...invoice,
      ...('amountDueMinor' in invoice ? { amountDueMinor: Number(invoice['amountDueMinor']) + 1 } : {}),
    })),
  },
  {
    name: 'an error is a problem document',
    says: /must have required property 'error'/,
    reply: inBody(404, () => ({ type: 'about:blank', title: 'Not Found', status: 404 })),
  },
  {
    name: 'an error shows its stack',
    says: /must NOT have unevaluated properties: stack/,
    reply: inBody(503, ({ error }) => ({ error: { ...(error as object), stack: 'Error\n    at read' } })),
  },
  {
    name: 'an error names its cause',
    says: /differs from the example: \/error\/message/,
    reply: inBody(503, () => ({
      error: { code: 'unavailable', message: 'The disk cannot be read: /var/lib/secret-path' },
    })),
  },
  {
    name: 'an error has a code of another status',
    says: /the code unauthorized is not of 401|must be equal to one of the allowed values/,
    reply: inBody(401, () => ({
      error: { code: 'unauthorized', message: 'The API key is missing or wrong.' },
    })),
  },
  {
    name: 'an error has a code that its operation does not have',
    says: /no example of this response has the code invoicing_not_enabled/,
    reply: inBody(503, () => ({
      error: { code: 'invoicing_not_enabled', message: 'Invoicing is not switched on for this company.' },
    })),
  },
  {
    name: 'two reasons for a refusal are confused',
    says: /error\/code is "api_not_enabled", not "company_unavailable"/,
    reply: inText(403, (text) => text.replace('company_unavailable', 'api_not_enabled')),
  },
];
