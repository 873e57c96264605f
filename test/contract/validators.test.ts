import t from 'tap';

import { contractDocument } from '../../src/contract/document.ts';
import { closedSchema } from '../../src/contract/schemas.ts';
import { createAjv, recordProblem } from '../../src/contract/validators.ts';

const ajv = createAjv();

/** Whether a value passes a schema as the program closes it. */
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

t.test('formats are checked', async (t) => {
  const right: [string, string, string][] = [
    ['date', '2024-02-29', '2023-02-29'],
    ['date-time', '2026-11-20T12:00:00.000Z', '2026-11-20T25:00:00.000Z'],
    ['uuid', '019a1c39-3c00-7a10-8c1d-5e8f00000001', '019a1c39-3c00-7a10-8c1d-5e8f0000000g'],
    ['email', 'office@brennan.example', 'office'],
    ['uri-reference', '/api/v1/invoices', '/api v1'],
  ];
  for (const [format, good, bad] of right) {
    const validate = ajv.compile({ type: 'string', format });
    t.ok(validate(good), format);
    t.notOk(validate(bad), format);
  }
});

t.test('every schema of the contract can be closed and compiled', async (t) => {
  for (const [name, schema] of Object.entries(contractDocument().components.schemas)) {
    t.doesNotThrow(() => ajv.compile(closedSchema(schema)), name);
  }
});

t.test('a schema that is not there is a fault of the program', async (t) => {
  t.throws(() => recordProblem('Unicorn', {}), new Error('The contract has no schema Unicorn.'));
});
