import t from 'tap';

import {
  bodies,
  bundle,
  contract,
  events,
  operations,
  schemasIn,
  strictAjv,
  successOf,
} from './_contract.ts';

const schemas = Object.entries(contract.components.schemas);
/** Every schema of the contract with a name to report it by. */
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
  t.ok(everySchema.length > 1000, `${everySchema.length} schemas`);
  const ajv = strictAjv();
  const refused = everySchema.flatMap(({ path, schema }) => {
    try {
      ajv.compile(schema);
      return [];
    } catch (error) {
      return [`${path}: ${String(error)}`];
    }
  });
  t.same(refused, []);
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
    const listed = everySchema.filter(({ schema }) => {
      const types = [schema.type].flat();
      return types.length > 2 || (types.length === 2 && !types.includes('null'));
    });
    t.same(
      listed.map(({ path }) => path),
      [],
    );
  },
);

t.test('no two components share a name, whatever they are and however a generator spells them', async (t) => {
  const names = Object.entries(bundle.components).flatMap(([kind, components]) =>
    Object.keys(components).map((name) => ({
      kind,
      name,
      spelt: name.toLowerCase().replace(/[^a-z0-9]/g, ''),
    })),
  );
  t.ok(names.length > 150, `${names.length} components`);
  const shared = [...Map.groupBy(names, ({ spelt }) => spelt).values()].filter(({ length }) => length > 1);
  t.same(
    shared.map((group) => group.map(({ kind, name }) => `${kind}/${name}`)),
    [],
  );
});

t.test('every component is used, but for the event of any kind', async (t) => {
  const text = JSON.stringify(bundle);
  const unused = Object.entries(bundle.components)
    .filter(([kind]) => kind !== 'securitySchemes')
    .flatMap(([kind, components]) => Object.keys(components).map((name) => `#/components/${kind}/${name}`))
    .filter((pointer) => !text.includes(`"$ref":"${pointer}"`));
  t.same(unused, ['#/components/schemas/Event']);
});

t.test('every value has bounds', async (t) => {
  const missing = everySchema.filter(({ path, schema }) => {
    if (schema.anyOf ?? schema.oneOf) return false;
    const types = [schema.type].flat();
    const isNamed = schema.enum !== undefined || schema.const !== undefined;
    const wanted = [
      ...(types.includes('string') && !isNamed ? ['maxLength'] : []),
      // People may type any number into a field of their own.
      ...(types.includes('integer') || (types.includes('number') && !path.endsWith('|number'))
        ? ['minimum', 'maximum']
        : []),
      ...(types.includes('array') ? ['maxItems', 'items'] : []),
      ...(schema.additionalProperties !== undefined ? ['maxProperties'] : []),
    ];
    return schema.type === undefined || wanted.some((keyword) => !(keyword in schema));
  });
  t.same(
    missing.map(({ path }) => path),
    [],
  );
});

t.test('every string says how short it may be and what it looks like', async (t) => {
  const vague = everySchema.filter(({ schema }) => {
    if (schema.type !== 'string' || schema.enum || schema.const !== undefined) return false;
    return schema.minLength === undefined || (schema.pattern === undefined && schema.format === undefined);
  });
  t.same(
    vague.map(({ path }) => path),
    [],
  );
});

t.test('every schema and every member is described in sentences', async (t) => {
  const described = schemas.flatMap(([name, schema]) => [...schemasIn(schema, name)]);
  t.ok(described.length > 500);
  const bare = described.filter(({ schema }) => !/^[A-Z`].*[.|]$/s.test(schema.description ?? ''));
  t.same(
    bare.map(({ path }) => path),
    [],
  );
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
    t.ok(Object.keys(few).length > 15);
    t.ok(Object.keys(many).length > Object.keys(few).length);
    t.same(Object.fromEntries(Object.entries(many).filter(([name]) => name in few)), few);
    t.same(
      fewRequired.filter((name) => !manyRequired.includes(name)),
      [],
    );
  }
});

t.test('every value of a closed set is described', async (t) => {
  const enums = everySchema.filter(({ schema }) => schema.enum);
  t.ok(enums.length > 20);
  for (const { path, schema } of enums) {
    t.same(Object.keys(schema['x-enumDescriptions'] ?? {}), schema.enum, path);
  }
});

t.test('every open set lists its values of today, and explains each', async (t) => {
  const members = ['method', 'vatCategory', 'category', 'unitCode', 'type', 'Service-Event'];
  const open = everySchema.filter(({ schema }) => schema['x-extensible-enum']);
  for (const { path, schema } of open) {
    const values = schema['x-extensible-enum'] ?? [];
    const description = schema.description ?? '';
    t.same(
      values.filter((value) => !description.includes(`\`${value}\``)),
      [],
      path,
    );
    t.equal(schema.enum, undefined, path);
    t.ok(
      values.every((value) => new RegExp(schema.pattern ?? '^$').test(value)),
      path,
    );
  }
  const named = new Set(open.map(({ path }) => path.split(/[. ]/).at(-1)));
  t.same(
    members.filter((name) => !named.has(name)),
    [],
  );
  const inProse = everySchema.filter(({ schema }) => /\bopen set\b/i.test(schema.description ?? ''));
  t.same(
    inProse.filter(({ schema }) => !schema['x-extensible-enum']).map(({ path }) => path),
    [],
  );
});

t.test('operation and event names are unique, and every tag in use is described', async (t) => {
  const all = [...operations, ...events];
  t.equal(new Set(all.map(({ operationId }) => operationId)).size, 22);
  t.same(
    [...new Set(all.flatMap(({ tags }) => tags))].sort(),
    contract.tags.map(({ name }) => name),
  );
  for (const { description } of contract.tags) t.ok(description.length > 40);
});

t.test('no answer is documented by an example that names no request or has no summary', async (t) => {
  const examples = [...bodies()];
  t.ok(examples.length > 200);
  for (const { name, example } of examples) t.match(example.summary, /^[A-Z].*[^.]$/, name);
  for (const operation of operations) {
    const named = Object.entries(successOf(operation).examples ?? {});
    t.ok(named.length > 0, operation.operationId);
    for (const [name, example] of named)
      t.match(example['x-request'], /^\/api\/v1\//, `${operation.operationId} ${name}`);
  }
});

t.test(
  'the members that the contract adds to OpenAPI are explained in its prose, and are all in use',
  async (t) => {
    const used = new Set(JSON.stringify(bundle).match(/(?<=")x-[A-Za-z-]+(?=":)/g));
    const [, section = ''] = contract.info.description.split('# Extensions of this document');
    const explained = section.match(/(?<=^\| `)x-[A-Za-z-]+/gm) ?? [];
    t.ok(explained.length > 3);
    t.same([...used].sort(), explained.sort());
  },
);
