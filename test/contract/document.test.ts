import t from 'tap';

import { bundle, contract, events, missingBounds, operations, schemasIn, strictAjv } from './_contract.ts';

/* Rules of the contract that linters can't hold; judges.test.ts has the others. */

const schemas = Object.entries(contract.components.schemas);
const everySchema = [
  ...schemas.flatMap(([name, schema]) => [...schemasIn(schema, name)]),
  ...[...operations, ...events].flatMap(({ operationId, parameters, responses }) => [
    ...parameters.flatMap(({ name, schema }) => [...schemasIn(schema, `${operationId} ${name}`)]),
    ...Object.entries(responses).flatMap(([status, { headers = {} }]) =>
      Object.entries(headers).flatMap(([name, { schema }]) => [
        ...schemasIn(schema, `${operationId} ${status} ${name}`),
      ]),
    ),
  ]),
];

t.test('it is OpenAPI 3.1 without a base path, so that every server shares its paths', async (t) => {
  t.match(contract.openapi, /^3\.1\./);
  t.equal(contract.servers.length, 1, 'a server publishes itself in its place');
  for (const { url } of contract.servers) t.equal(new URL(url).origin, url);
  for (const path of Object.keys(contract.paths)) t.match(path, /^\/api\/v1\/[a-z]/);
});

t.test('every schema compiles under the strictest Ajv', async (t) => {
  const ajv = strictAjv();
  for (const { path, schema } of everySchema) t.doesNotThrow(() => ajv.compile(schema), path);
});

t.test(
  'schemas are simple: no composition, nothing closed to later additions, no keyword of OpenAPI 3.0',
  async (t) => {
    const unwanted = ['allOf', 'anyOf', 'oneOf', 'not', 'nullable', 'example', 'unevaluatedProperties', 'if'];
    const found = everySchema.filter(
      ({ schema }) => schema.additionalProperties === false || unwanted.some((keyword) => keyword in schema),
    );
    // Values of any type, and any event.
    const composed = /^(CustomFieldValue|AnswerValue|Event)$|\.(customFields|answers)\.\*$/;
    t.same(
      found.map(({ path }) => path).filter((path) => !composed.test(path)),
      [],
    );
  },
);

t.test(
  'no schema takes a list of types, but for a type or null: many generators read no other',
  async (t) => {
    for (const { path, schema } of everySchema) {
      const types = [schema.type].flat();
      t.ok(types.length === 1 || (types.length === 2 && types.includes('null')), path);
    }
  },
);

t.test('no two components share a name, whatever they are and however a generator spells them', async (t) => {
  const names = Object.values(bundle.components).flatMap((components) => Object.keys(components));
  const spelt = names.map((name) => name.toLowerCase().replace(/[^a-z0-9]/g, ''));
  t.same(
    names.filter((_name, index) => spelt.indexOf(spelt[index] ?? '') !== index),
    [],
  );
});

t.test('every value has bounds', async (t) => {
  // People may type any number into a field of their own.
  const unbounded = everySchema.filter(
    ({ path, schema }) => missingBounds(schema).length > 0 && !path.endsWith('|number'),
  );
  t.same(
    unbounded.map(({ path, schema }) => `${path}: ${missingBounds(schema).join(', ')}`),
    [],
  );
});

t.test('every schema and every member is described in sentences', async (t) => {
  for (const { path, schema } of schemas.flatMap(([name, schema]) => [...schemasIn(schema, name)]))
    t.match(schema.description, /^[A-Z`].*[.|]$/s, path);
});

t.test('every member is always there, except those that depend on the record', async (t) => {
  const optional = schemas.flatMap(([name, { properties = {}, required = [] }]) =>
    Object.keys(properties)
      .filter((member) => !required.includes(member))
      .map((member) => `${name}.${member}`),
  );
  t.same(optional.sort(), [
    'Invoice.amountDueMinor',
    'Invoice.creditBalanceMinor',
    'Invoice.payments',
    'Invoice.refunds',
    'Submission.jobId',
  ]);
});

t.test('a detail has the members of its summary, with the same schemas', async (t) => {
  for (const [summary, detail] of [
    ['InvoiceSummary', 'Invoice'],
    ['QuoteSummary', 'Quote'],
  ] as const) {
    const { properties: few = {}, required: fewRequired = [] } = bundle.components.schemas[summary] ?? {};
    const { properties: many = {}, required: manyRequired = [] } = bundle.components.schemas[detail] ?? {};
    t.same(Object.fromEntries(Object.entries(many).filter(([name]) => name in few)), few);
    for (const name of fewRequired) t.ok(manyRequired.includes(name), `${detail}.${name}`);
  }
});

t.test('every value of a closed set is described', async (t) => {
  for (const { path, schema } of everySchema)
    if (schema.enum) t.same(Object.keys(schema['x-enumDescriptions'] ?? {}), schema.enum, path);
});

t.test('every open set lists its values of today, and explains each', async (t) => {
  for (const { path, schema } of everySchema) {
    const { 'x-extensible-enum': values, description = '' } = schema;
    t.equal(/\bopen set\b/i.test(description), values !== undefined, path);
    if (values) t.equal(schema.enum, undefined, path);
    for (const value of values ?? []) {
      t.ok(description.includes(`\`${value}\``), `${path} ${value}`);
      t.match(value, new RegExp(schema.pattern ?? '^$'), path);
    }
  }
});

t.test('every tag in use is described, and no other', async (t) => {
  t.same(
    [...new Set([...operations, ...events].flatMap(({ tags }) => tags))].sort(),
    contract.tags.map(({ name }) => name),
  );
});

t.test(
  'the members that the contract adds to OpenAPI are explained in its prose, and are all in use',
  async (t) => {
    const used = new Set(JSON.stringify(bundle).match(/(?<=")x-[A-Za-z-]+(?=":)/g));
    const [, section = ''] = contract.info.description.split('# Extensions of this document');
    const explained = section.match(/(?<=^\| `)x-[A-Za-z-]+/gm) ?? [];
    t.same([...used].sort(), explained.sort());
  },
);
