import { createHash } from 'node:crypto';

import type { ValidateFunction } from 'ajv/dist/2020.js';
import t from 'tap';

import { engineNames, startExampleServer } from '../_server.ts';
import { company, summaryOf } from './_company.ts';
import {
  bodies,
  closed,
  contract,
  events,
  isNullable,
  operations,
  type Parameter,
  type Schema,
  schemasIn,
  strictAjv,
  successOf,
  valuesIn,
} from './_contract.ts';

const ajv = strictAjv();
const validators = new WeakMap<Schema, ValidateFunction>();

/** The faults of a value when its schema is closed, in words. */
function faults(schema: Schema, value: unknown): string[] {
  const validate = validators.get(schema) ?? ajv.compile(closed(schema));
  validators.set(schema, validate);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
}

t.test('every example of a body is valid, and has no member that is not declared', async (t) => {
  const all = [...bodies()];
  t.ok(all.length > 200, `${all.length} examples`);
  const wrong = all.flatMap(({ name, schema, example }) =>
    faults(schema, example.value).map((fault) => `${name}: ${fault}`),
  );
  t.same(wrong, []);
});

t.test('a closed schema refuses a member that is not declared, at every depth', async (t) => {
  const { schema, example } =
    [...bodies()].find(({ name }) => name === 'getInvoice 200 foreignCurrency') ?? {};
  if (!schema || !example) throw new Error('the example is gone');
  const { data } = structuredClone(example.value) as { data: { accountingCurrency: { totals: object } } };
  Object.assign(data.accountingCurrency.totals, { surprise: 1 });
  t.same(faults(schema, { data }), ['/data/accountingCurrency/totals must NOT have unevaluated properties']);
});

t.test('every parameter has a valid example', async (t) => {
  const all = [...operations, ...events].flatMap(({ parameters }) => parameters);
  t.ok(all.length > 60);
  for (const { name, schema, example } of all) t.same(faults(schema, example), [], name);
});

t.test('every header of an answer has a valid example', async (t) => {
  const all = operations.flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ headers }) => Object.entries(headers ?? {})),
  );
  t.ok(all.length > 400);
  t.same(
    all.flatMap(([name, { schema, example }]) => faults(schema, example).map((fault) => `${name}: ${fault}`)),
    [],
  );
});

t.test('every example within a schema is valid, and every value has one', async (t) => {
  const all = Object.entries(contract.components.schemas).flatMap(([name, schema]) => [
    ...schemasIn(schema, name),
  ]);
  const scalars = all.filter(
    ({ schema }) => !schema.properties && !schema.items && !schema.additionalProperties && !schema.oneOf,
  );
  t.same(
    scalars.filter(({ schema, path }) => !schema.examples && path !== 'Pdf').map(({ path }) => path),
    [],
  );
  const wrong = all.flatMap(({ path, schema }) =>
    (schema.examples ?? []).flatMap((value) => faults(schema, value).map((fault) => `${path}: ${fault}`)),
  );
  t.same(wrong, []);
});

t.test('the example of the PDF is as long as its header says', async (t) => {
  const answer = operations.find(({ operationId }) => operationId === 'getInvoicePdf')?.responses['200'];
  const pdf = answer?.content?.['application/pdf']?.examples?.['settled']?.value;
  t.match(pdf, /^%PDF-1\.7\n.*%%EOF\n$/s);
  t.equal(Buffer.byteLength(String(pdf)), answer?.headers?.['Content-Length']?.example);
});

/** Every value in the examples with its schema. */
const values = [...bodies()].flatMap(({ name, schema, example }) => [
  ...valuesIn(schema, example.value, name.split(' ')[0] ?? ''),
]);

t.test('every value of every closed set appears in an example', async (t) => {
  const shown = new Set(values.map(({ value }) => value));
  // Filters are values of requests: the examples of lists name the request that they answer.
  for (const { example } of bodies()) {
    const query = new URL(example['x-request'] ?? '', 'http://host').searchParams;
    for (const value of query.values()) shown.add(value);
  }
  shown.add('method_not_allowed');
  const enums = Object.entries(contract.components.schemas).filter(([, schema]) => schema.enum);
  t.ok(enums.length >= 7);
  for (const [name, schema] of enums)
    t.same(
      (schema.enum ?? []).filter((value) => !shown.has(value)),
      [],
      name,
    );
});

t.test(
  'every value of an open set that an example shows is explained where the set is described',
  async (t) => {
    const open = ['method', 'vatCategory', 'category', 'unitCode'];
    const found = values.filter(({ path }) => open.some((name) => path.endsWith(`.${name}`)));
    const fields = values.filter(({ path }) => path.endsWith('.fields[].type'));
    t.ok(found.length > 100 && fields.length >= 13);
    const unexplained = [...found, ...fields].filter(
      ({ schema, value }) => !schema.description?.includes(`\`${String(value)}\``),
    );
    t.same([...new Set(unexplained.map(({ path, value }) => `${path}: ${String(value)}`))], []);
  },
);

t.test('every type of form field appears in a form', async (t) => {
  const description = contract.components.schemas['FormField']?.properties?.['type']?.description ?? '';
  const rows = description.split('\n').filter((line) => line.startsWith('| `'));
  const types = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, type]) => type),
  );
  t.equal(types.length, 13);
  const shown = new Set(
    values.filter(({ path }) => path.endsWith('.fields[].type')).map(({ value }) => value),
  );
  t.same(
    types.filter((type) => !shown.has(type)),
    [],
  );
});

t.test('every member that can be null is seen null and not null', async (t) => {
  const seen = new Map<string, Set<boolean>>();
  for (const { path, schema, value } of values) {
    // A list shows the same records as the operation for one of them.
    const place = path.replace('.data[]', '.data');
    if (isNullable(schema)) seen.set(place, (seen.get(place) ?? new Set()).add(value === null));
  }
  const api = [...seen].filter(([place]) => /^(list|get)/.test(place) && !place.endsWith('.*'));
  t.ok(api.length > 50);
  const operationsSeen = api.filter(([place]) => !place.startsWith('listPeople.nextCursor'));
  const oneSided = operationsSeen.filter(
    ([place, sides]) => sides.size < 2 && !/^list\w+\.nextCursor$/.test(place),
  );
  t.same(
    oneSided.map(([place]) => place),
    [],
  );
});

type Operation = (typeof operations)[number];
type ListRecord = Record<string, unknown> & { id: string };

interface Request {
  operation: Operation;
  path: Record<string, string>;
  query: Record<string, string>;
}

const invoices = company.invoices.map((invoice) => summaryOf('InvoiceSummary', invoice) as ListRecord);
const quotes = company.quotes.map((quote) => summaryOf('QuoteSummary', quote) as ListRecord);

/** The records of each list before it is filtered. */
const lists: Record<string, readonly object[]> = {
  listJobs: company.jobs,
  listPeople: company.people,
  listForms: company.forms,
  listFormSubmissions: company.submissions,
  listCustomers: company.customers,
  listQuotes: quotes,
  listInvoices: invoices,
};

/** The rule of each filter, as simply as it can be said. */
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

function requestFaults({ operation, path, query }: Request): string[] {
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
    t.same(requestFaults(parsed), [], name);
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

for (const engine of engineNames) {
  t.test(`every example of a parameter works, each list's own cursor included (${engine})`, async (t) => {
    await using server = await startExampleServer(engine);
    const headers = { authorization: `Bearer ${server.key}` };
    const cursors = new Map<string, unknown>();
    for (const { operationId, path, parameters } of operations) {
      const exampleOf = (name: string) => String(parameters.find((one) => one.name === name)?.example);
      const target = path.slice(1).replaceAll(/\{(\w+)\}/g, (_match, name: string) => exampleOf(name));
      const asked: (Parameter | undefined)[] = [undefined, ...parameters.filter((one) => one.in === 'query')];
      for (const parameter of asked) {
        const searchParams = parameter ? { [parameter.name]: String(parameter.example) } : {};
        const { statusCode } = await server.http(target, { headers, searchParams });
        t.equal(statusCode, 200, `${operationId} ${parameter?.name ?? ''}`);
        if (parameter?.name === 'cursor') cursors.set(operationId, parameter.example);
      }
    }
    t.equal(cursors.size, 7);
    t.equal(new Set(cursors.values()).size, 7, 'no two lists show the same cursor');
  });
}

t.test('the examples of X-Request-Id and ETag are such as the server sends', async (t) => {
  await using server = await startExampleServer('sqlite');
  const { headers } = await server.http('api/v1/jobs', {
    headers: { authorization: `Bearer ${server.key}` },
    decompress: false,
  });
  const etag = /^"[A-Za-z0-9_-]{27}"$/;
  t.match(headers.etag, etag);
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  t.match(headers['x-request-id'], uuid);
  for (const { operationId, responses } of operations) {
    for (const [status, response] of Object.entries(responses))
      t.match(response.headers?.['X-Request-Id']?.example, uuid, `${operationId} ${status}`);
    t.match(responses['200']?.headers?.['ETag']?.example, etag, operationId);
  }
});
