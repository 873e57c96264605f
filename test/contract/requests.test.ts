import { createHash } from 'node:crypto';
import t from 'tap';

import { company, summaryOf } from './_company.ts';
import { operations, strictAjv, successOf } from './_contract.ts';

type Operation = (typeof operations)[number];
type ListRecord = Record<string, unknown> & { id: string };

interface Request {
  operation: Operation;
  path: Record<string, string>;
  query: Record<string, string>;
}

const ajv = strictAjv();
const invoices = company.invoices.map((invoice) => summaryOf('InvoiceSummary', invoice) as ListRecord);
const quotes = company.quotes.map((quote) => summaryOf('QuoteSummary', quote) as ListRecord);

/** What each list holds before it is filtered. */
const lists: Record<string, readonly object[]> = {
  listJobs: company.jobs,
  listPeople: company.people,
  listForms: company.forms,
  listFormSubmissions: company.submissions,
  listCustomers: company.customers,
  listQuotes: quotes,
  listInvoices: invoices,
};

/** What each filter keeps, as simply as it can be said. */
const filters: Record<string, (record: ListRecord, value: string) => boolean> = {
  updatedSince: (record, value) =>
    Date.parse(String(record['updatedAt'] ?? record['createdAt'])) >= Date.parse(value),
  formId: (record, value) => record['formId'] === value,
  customer: (record, value) => (record['customer'] as { id: string }).id === value,
  kind: (record, value) => record['kind'] === value,
  status: (record, value) => value === 'all' || record['status'] === value,
  issuedFrom: ({ issueDate }, value) => typeof issueDate === 'string' && issueDate >= value,
  issuedTo: ({ issueDate }, value) => typeof issueDate === 'string' && issueDate <= value,
  versions: (record, value) => value === 'all' || record['status'] !== 'revised',
};

const records: Record<string, readonly { id: string }[]> = {
  getJob: company.jobs,
  getCustomer: company.customers,
  getQuote: company.quotes,
  getInvoice: company.invoices,
};

const examples = operations.flatMap((operation) =>
  Object.entries(successOf(operation).examples ?? {}).map(([name, { value, 'x-request': request = '' }]) => ({
    name: `${operation.operationId} ${name}`,
    operation,
    value,
    request,
  })),
);

/** Reads a request as the contract describes it; what it doesn't describe is a mistake. */
function parse(text: string): Request {
  const url = new URL(text, 'http://host');
  for (const operation of operations) {
    const pattern = new RegExp(`^${operation.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    const match = pattern.exec(url.pathname);
    if (match) return { operation, path: { ...match.groups }, query: Object.fromEntries(url.searchParams) };
  }
  throw new Error(`No operation has the path of ${text}.`);
}

function faults({ operation, path, query }: Request): string[] {
  return Object.entries({ ...path, ...query }).flatMap(([name, text]) => {
    const parameter = operation.parameters.find((candidate) => candidate.name === name);
    if (!parameter) return [`${name} is unknown`];
    const value = parameter.schema.type === 'integer' ? Number(text) : text;
    return ajv.validate(parameter.schema, value) ? [] : [`${name} is ${ajv.errorsText()}`];
  });
}

/** The filters of a request: its own, those of its path, and the defaults. */
function filtersOf({ operation, path, query }: Request): Record<string, string> {
  const defaults = operation.parameters.flatMap(({ name, schema }) =>
    typeof schema.default === 'string' ? [[name, schema.default] as const] : [],
  );
  const given = Object.entries(query).filter(([name]) => name !== 'limit' && name !== 'cursor');
  return { ...Object.fromEntries([...defaults, ...given]), ...path };
}

/** The algorithm of cursors, written a second time so that the documented ones are known to be true. */
function cursorAfter(operationId: string, values: Record<string, string>, lastId: string): string {
  const normalised = Object.entries(values).map(
    ([name, value]) => `${name}=${name === 'updatedSince' ? new Date(value).toISOString() : value}`,
  );
  const text = `1\n${operationId}\n${normalised.sort().join('&')}\n${lastId}`;
  const digest = createHash('sha256').update(text).digest().subarray(0, 9);
  return `1${Buffer.concat([digest, Buffer.from(lastId)]).toString('base64url')}`;
}

function answer(request: Request): object {
  const { operation, path, query } = request;
  const { operationId } = operation;
  const one = records[operationId];
  if (one) return { data: one.find(({ id }) => Object.values(path).includes(id)) };
  const values = filtersOf(request);
  const all = (lists[operationId] as ListRecord[]).filter((record) =>
    Object.entries(values).every(([name, value]) => filters[name]?.(record, value)),
  );
  const start =
    query['cursor'] === undefined
      ? 0
      : 1 + all.findIndex(({ id }) => cursorAfter(operationId, values, id) === query['cursor']);
  const limit = Number(query['limit'] ?? 50);
  const data = all.slice(start, start + limit);
  const hasMore = all.length > start + limit;
  return { data, nextCursor: hasMore ? cursorAfter(operationId, values, data.at(-1)?.id ?? '') : null };
}

t.test('every example names a request that its operation understands', async (t) => {
  t.ok(examples.length > 60, `${examples.length} examples`);
  for (const { name, operation, request } of examples) {
    const parsed = parse(request);
    t.equal(parsed.operation.operationId, operation.operationId, name);
    t.same(faults(parsed), [], name);
  }
});

t.test('no two examples of an operation are of the same request', async (t) => {
  t.equal(new Set(examples.map(({ request }) => request)).size, examples.length);
});

t.test('every example is the answer to its request', async (t) => {
  for (const { name, value, request } of examples) {
    if (name.startsWith('getInvoicePdf')) continue;
    t.strictSame(value, answer(parse(request)), name);
  }
});

t.test('the first example of a list is the answer to the request without parameters', async (t) => {
  for (const operation of operations.filter(({ operationId }) => operationId.startsWith('list'))) {
    const [first] = Object.values(successOf(operation).examples ?? {});
    t.notMatch(first?.['x-request'], /\?/, operation.operationId);
  }
});

t.test('every parameter of every operation is used by an example', async (t) => {
  for (const operation of operations) {
    const { operationId, parameters } = operation;
    const requests = examples
      .filter((example) => example.operation === operation)
      .map(({ request }) => parse(request));
    const used = new Set(requests.flatMap(({ path, query }) => Object.keys({ ...path, ...query })));
    t.same(
      parameters.filter(({ name }) => !used.has(name)).map(({ name }) => name),
      [],
      operationId,
    );
  }
});

t.test('following the documented cursors gives the whole list once', async (t) => {
  const paged = operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'cursor'));
  t.equal(paged.length, 7);
  for (const { operationId } of paged) {
    const pages = examples.filter(({ name }) => name.startsWith(operationId) && name.endsWith('Page'));
    t.ok(pages.length >= 2, operationId);
    const seen = pages.flatMap(({ value }) => (value as { data: ListRecord[] }).data.map(({ id }) => id));
    const [whole] = examples.filter((example) => example.operation.operationId === operationId);
    t.same(
      seen,
      (whole?.value as { data: ListRecord[] }).data.map(({ id }) => id),
      operationId,
    );
  }
});
