import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';

import { contractDocument } from '../../src/contract/document.ts';
import { joinObjects, type JsonText, listEnvelope, recordEnvelope } from '../../src/contract/json-text.ts';
import { type Resource, type ResourceRecord, resources, schemaNames } from '../../src/contract/records.ts';
import { InvalidRecordError, renderRecord, joinRecordTexts } from '../../src/contract/render.ts';
import { generate } from '../demo/_company.ts';

const { all: records } = await generate(250);

type Node = Record<string, unknown>;

/** The first record of a resource, to be changed as a test likes. */
function someRecord(resource: Resource): { resource: Resource; record: Record<string, unknown> } {
  const found = records.find((candidate) => candidate.resource === resource);
  if (!found) throw new Error(`There is no record of ${resource}.`);
  return structuredClone(found);
}

function render(given: { resource: Resource; record: Record<string, unknown> }) {
  return renderRecord(given as unknown as ResourceRecord);
}

/** The message with which a record is refused. */
function refusalOf(given: { resource: Resource; record: Record<string, unknown> }): string {
  try {
    render(given);
  } catch (error) {
    if (error instanceof InvalidRecordError) return error.message;
    throw error;
  }
  throw new Error('It is rendered.');
}

function declaredOrder(schemaName: string): string[] {
  return Object.keys(contractDocument().components.schemas[schemaName]?.properties ?? {});
}

t.test('every resource has its records here', async (t) => {
  t.strictSame([...new Set(records.map(({ resource }) => resource))].sort(), [...resources].sort());
});

t.test('a record is rendered with the same values, its members in the order of the contract', async (t) => {
  const wrong = records.filter((given) => {
    const { body, detail } = renderRecord(given);
    const schemas = schemaNames[given.resource];
    const names = declaredOrder(schemas.body);
    const rendered = Object.keys(JSON.parse(body) as object);
    return (
      rendered.join() !== names.filter((name) => rendered.includes(name)).join() ||
      !isDeepStrictEqual(JSON.parse(joinRecordTexts({ body, detail })), given.record) ||
      (detail !== undefined) !== (schemas.whole !== schemas.body)
    );
  });
  t.strictSame(
    wrong.map(({ resource, record }) => `${resource} ${record.id}`),
    [],
  );
});

t.test('the order in which a record is given does not matter', async (t) => {
  for (const resource of resources) {
    const given = someRecord(resource);
    const reversed = Object.fromEntries(Object.entries(given.record).reverse());
    t.strictSame(render({ resource, record: reversed }), render(given), resource);
  }
});

t.test('summary and detail have no member in common, and together are the whole', async (t) => {
  for (const resource of ['invoices', 'quotes'] as const) {
    const { body, detail } = render(someRecord(resource));
    const inSummary = Object.keys(JSON.parse(body) as object);
    const inDetail = Object.keys(JSON.parse(detail ?? '{}') as object);
    t.strictSame(
      inSummary.filter((name) => inDetail.includes(name)),
      [],
      resource,
    );
    t.ok(inDetail.includes('lines') && inDetail.includes('buyer'), resource);
    t.notOk(inSummary.includes('lines'), 'a list has no lines');
  }
});

/**
 * A change of a record, by the path to it, and the sentence that refuses it. Wherever an object stands, its members are
 * those of the contract (validators.test.ts).
 */
// prettier-ignore
const refused: readonly [Resource, path: string, value: unknown, problem: string][] = [
  ['jobs', 'title', undefined, "/ must have required property 'title'"],
  ['jobs', 'title', '', '/title must NOT have fewer than 1 characters'],
  ['jobs', 'title', 'a\u0000b', '/title must match pattern "^[^\\u0000]*$"'],
  ['jobs', 'title', 7, '/title must be string'],
  ['jobs', 'completed', 'yes', '/completed must be boolean'],
  ['jobs', 'updatedAt', '2026-11-20T12:00:00Z', '/updatedAt must NOT have fewer than 24 characters'],
  ['jobs', 'updatedAt', '2026-02-30T12:00:00.000Z', '/updatedAt must match format "date-time"'],
  ['jobs', 'dates', ['2026-13-01'], '/dates/0 must match format "date"'],
  ['jobs', 'secret', 1, '/ must NOT have unevaluated properties: secret'],
  ['customers', 'currency', 'euro', '/currency must NOT have more than 3 characters'],
  ['quotes', 'status', 'lost', '/status must be equal to one of the allowed values'],
  ['quotes', 'id', 'q_1', '/id must NOT have fewer than 36 characters'],
  ['invoices', 'totals.netMinor', 1.5, '/totals/netMinor must be integer'],
  ['invoices', 'customer.phone', '1', '/customer must NOT have unevaluated properties: phone'],
  ['invoices', 'lines.0.margin', 1, '/lines/0 must NOT have unevaluated properties: margin'],
];

t.test(
  'a record that the contract refuses is not rendered; the message names it and the member',
  async (t) => {
    for (const [resource, path, value, problem] of refused) {
      const given = someRecord(resource);
      const names = path.split('.');
      const owner = names
        .slice(0, -1)
        .reduce<unknown>((node, name) => (node as Node)[name], given.record) as Node;
      owner[names.at(-1) ?? ''] = value;
      if (value === undefined) Reflect.deleteProperty(owner, path);
      t.equal(refusalOf(given), `${resource} ${JSON.stringify(given.record['id'])}: ${problem}`);
    }
  },
);

t.test('envelopes and joins are the JSON of what they hold', async (t) => {
  const json = (value: unknown) => JSON.stringify(value) as JsonText<object>;
  const object = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
  const cursor = fc.option(fc.string());
  const property = fc.property(object, object, cursor, (one, other, nextCursor) => {
    const page = JSON.parse(listEnvelope([json(one), json(other)], nextCursor)) as unknown;
    const first = Object.fromEntries(Object.entries(one).map(([name, value]) => [`a${name}`, value]));
    const second = Object.fromEntries(Object.entries(other).map(([name, value]) => [`b${name}`, value]));
    const joined = joinObjects(json(first), json(second));
    return (
      recordEnvelope(json(one)) === JSON.stringify({ data: one }) &&
      JSON.stringify(page) ===
        JSON.stringify({ data: JSON.parse(json([one, other])) as unknown, nextCursor }) &&
      joined === JSON.stringify({ ...first, ...second })
    );
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }));
  t.equal(listEnvelope([], null), '{"data":[],"nextCursor":null}');
});
