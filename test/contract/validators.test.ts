import t from 'tap';

import { closedSchema } from '../../src/contract/schemas.ts';
import { createAjv, recordProblem } from '../../src/contract/validators.ts';

const ajv = createAjv();

function passes(schema: Record<string, unknown>, value: unknown): boolean {
  return ajv.compile(closedSchema(schema))(value);
}

t.test('a closed schema refuses members that are not declared, wherever an object stands', async (t) => {
  const inner = { type: 'object', properties: { a: { type: 'string' } } };
  const places: [string, Record<string, unknown>, (value: object) => unknown][] = [
    ['itself', inner, (value) => value],
    ['a member', { type: 'object', properties: { x: inner } }, (value) => ({ x: value })],
    ['an item', { type: 'array', items: inner }, (value) => [value]],
    ['a prefix item', { type: 'array', prefixItems: [inner] }, (value) => [value]],
    ['a free member', { type: 'object', additionalProperties: inner }, (value) => ({ any: value })],
    ['a named pattern', { type: 'object', patternProperties: { '^p': inner } }, (value) => ({ px: value })],
    ['one of several', { oneOf: [inner, { type: 'null' }] }, (value) => value],
    ['any of several', { anyOf: [{ type: 'null' }, inner] }, (value) => value],
    ['what follows from a condition', { if: { type: 'object' }, then: inner }, (value) => value],
  ];
  for (const [what, schema, place] of places) {
    t.ok(passes(schema, place({ a: 'x' })), what);
    t.notOk(passes(schema, place({ a: 'x', b: 1 })), what);
    t.notOk(passes(schema, place({ a: 1 })), what);
    t.ok(ajv.compile(schema)(place({ a: 'x', b: 1 })), 'the published schema stays open');
  }
});

t.test('members that are free on purpose stay free, and the schema itself is left as it was', async (t) => {
  const schema = { type: 'object', properties: { a: {} }, additionalProperties: { type: 'number' } };
  const before = structuredClone(schema);
  t.ok(passes(schema, { a: 'x', b: 1 }));
  t.notOk(passes(schema, { b: 'x' }));
  t.strictSame(schema, before);
});

t.test('a schema that is not there is a fault of the program', async (t) => {
  t.throws(() => recordProblem('Unicorn', {}), new Error('The contract has no schema Unicorn.'));
});
