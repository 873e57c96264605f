import type { ValidateFunction } from 'ajv/dist/2020.js';
import t from 'tap';

import {
  bodies,
  closed,
  contract,
  events,
  isNullable,
  operations,
  schemasIn,
  strictAjv,
  valuesIn,
} from './_contract.ts';
import type { Schema } from './_contract.ts';

const ajv = strictAjv();
const validators = new WeakMap<Schema, ValidateFunction>();

/** What is wrong with a value when its schema is closed, in words. */
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
