import t from 'tap';

import { closedSchema } from '../../src/contract/schemas.ts';
import { startExampleServer } from '../_server.ts';
import {
  bodies,
  contract,
  events,
  examplesOf,
  isNullable,
  operations,
  type Parameter,
  schemasIn,
  strictAjv,
  valuesIn,
} from './_contract.ts';

/*
 * The linters hold each body to its schema (judges.test.ts), and each example of an answer is what the servers answer
 * to its request (suite-answers.test.ts).
 */

t.test('every example of a parameter, of a header and within a schema is valid', async (t) => {
  const ajv = strictAjv();
  const parameters = [...operations, ...events].flatMap((operation) => operation.parameters);
  const headers = operations.flatMap(({ responses }) =>
    Object.values(responses).flatMap((response) => Object.entries(response.headers ?? {})),
  );
  const schemas = Object.entries(contract.components.schemas).flatMap(([name, schema]) => [
    ...schemasIn(schema, name),
  ]);
  const shown = [
    ...parameters.map(({ name, schema, example }) => ({ name, schema, value: example })),
    ...headers.map(([name, { schema, example }]) => ({ name, schema, value: example })),
    ...schemas.flatMap(({ path, schema }) =>
      (schema.examples ?? []).map((value) => ({ name: path, schema, value })),
    ),
  ];
  const validators = new Map(shown.map(({ schema }) => [schema, ajv.compile(closedSchema(schema))]));
  for (const { name, schema, value } of shown) t.ok(validators.get(schema)?.(value), name);
});

t.test('the example of the PDF is as long as its header says', async (t) => {
  const [example] = examplesOf('getInvoicePdf', 200);
  const answer = operations.find(({ operationId }) => operationId === 'getInvoicePdf')?.responses['200'];
  t.match(example?.value, /^%PDF-1\.7\n.*%%EOF\n$/s);
  t.equal(Buffer.byteLength(String(example?.value)), answer?.headers?.['Content-Length']?.example);
});

/** Every value in the examples with its schema. */
const values = [...bodies()].flatMap(({ name, schema, example }) => [
  ...valuesIn(schema, example.value, name.split(' ')[0] ?? ''),
]);

t.test('every value of every closed set appears in an example', async (t) => {
  // Filters are values of requests: the examples of lists name the request that they answer.
  const asked = [...bodies()].flatMap(({ example }) => [
    ...new URL(example['x-request'] ?? '', 'http://host').searchParams.values(),
  ]);
  // No operation answers another method.
  const shown = new Set([...values.map(({ value }) => value), ...asked, 'method_not_allowed']);
  for (const [name, { enum: all = [] }] of Object.entries(contract.components.schemas))
    t.same(
      all.filter((value) => !shown.has(value)),
      [],
      name,
    );
});

t.test(
  'every value of an open set that an example shows is explained where the set is described',
  async (t) => {
    for (const { path, schema, value } of values)
      if (schema['x-extensible-enum'] && typeof value === 'string')
        t.ok(schema.description?.includes(`\`${value}\``), `${path}: ${value}`);
  },
);

t.test('every type of form field appears in a form', async (t) => {
  const description = contract.components.schemas['FormField']?.properties?.['type']?.description ?? '';
  const rows = description.split('\n').filter((line) => line.startsWith('| `'));
  const types = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)]);
  const fields = values.filter(({ path }) => path.endsWith('.fields[].type'));
  const shown = new Set(fields.map(({ value }) => value));
  for (const [, type = ''] of types) t.ok(shown.has(type), type);
});

t.test('every member that can be null or absent is seen so, and otherwise', async (t) => {
  const places = values.map((one) => ({ ...one, place: one.path.replace('.data[]', '.data') }));
  // A list shows the same records as the operation for one of them. Whether it has a next page is the suite's to see.
  const ofAnswers = places.filter(
    ({ place }) => /^(list|get)/.test(place) && !/\.\*$|nextCursor$/.test(place),
  );
  const nullable = ofAnswers.filter(({ schema }) => isNullable(schema));
  const objects = ofAnswers.filter(({ value }) => typeof value === 'object' && !Array.isArray(value));
  const optional = objects.flatMap(({ place, schema: { properties = {}, required = [] }, value }) =>
    Object.keys(properties)
      .filter((name) => !required.includes(name) && value !== null)
      .map((name) => [`${place}.${name}`, name in (value as object)] as const),
  );
  const seen = [...nullable.map(({ place, value }) => [place, value === null] as const), ...optional];
  for (const [place, sides] of Map.groupBy(seen, ([name]) => name))
    t.equal(new Set(sides.map(([, side]) => side)).size, 2, place);
});

const examples = operations.flatMap(({ operationId }) =>
  examplesOf(operationId, 200).map(({ name, summary, 'x-request': request = '' }) => ({
    operationId,
    name,
    summary,
    request,
  })),
);

t.test('every example of an answer has a summary and a request of its own', async (t) => {
  for (const { name, example } of bodies()) t.match(example.summary, /^[A-Z].*[^.]$/, name);
  t.strictSame(
    examples.map(({ request }) => request),
    [...new Set(examples.map(({ request }) => request))],
  );
});

t.test('the first example of a list is the answer to the request without parameters', async (t) => {
  for (const { operationId } of operations.filter((operation) => operation.operationId.startsWith('list')))
    t.notMatch(examplesOf(operationId, 200)[0]?.['x-request'], /\?/, operationId);
});

t.test('every query parameter of every operation is used by an example', async (t) => {
  for (const { operationId, parameters } of operations) {
    const requests = examples.filter((example) => example.operationId === operationId);
    const used = requests.flatMap(({ request }) => [...new URL(request, 'http://host').searchParams.keys()]);
    for (const { name, in: place } of parameters)
      if (place === 'query') t.ok(used.includes(name), `${operationId} ${name}`);
  }
});

const server = await startExampleServer('sqlite');
t.teardown(() => server[Symbol.asyncDispose]());

t.test("every example of a parameter works, each list's own cursor included", async (t) => {
  const headers = { authorization: `Bearer ${server.key}` };
  const cursors: unknown[] = [];
  for (const { operationId, path, parameters } of operations) {
    const exampleOf = (name: string) => String(parameters.find((one) => one.name === name)?.example);
    const target = path.slice(1).replaceAll(/\{(\w+)\}/g, (_match, name: string) => exampleOf(name));
    const asked: (Parameter | undefined)[] = [undefined, ...parameters.filter((one) => one.in === 'query')];
    for (const parameter of asked) {
      const searchParams = parameter ? { [parameter.name]: String(parameter.example) } : {};
      const { statusCode } = await server.http(target, { headers, searchParams });
      t.equal(statusCode, 200, `${operationId} ${parameter?.name ?? ''}`);
      if (parameter?.name === 'cursor') cursors.push(parameter.example);
    }
  }
  t.strictSame(cursors, [...new Set(cursors)], 'no two lists show the same cursor');
});

t.test('the examples of X-Request-Id and ETag are such as the server sends', async (t) => {
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
