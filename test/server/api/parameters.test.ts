import type { ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import t from 'tap';

import { explainParameters, readIntegers, readQuery } from '../../../src/server/api/parameters.ts';
import { contractOperations } from '../../../src/contract/document.ts';
import { createAjv } from '../../../src/contract/validators.ts';
import { anyCharacter } from '../../_characters.ts';
import { processorMs } from '../../_processor-time.ts';

/* Which values and names are right is the suite's to ask, of every operation (test/contract/_spellings.ts). */

const parametersOf = (operationId: string) =>
  contractOperations().find((operation) => operation.operationId === operationId)?.parameters ?? [];

const validators = new Map<string, ValidateFunction>();

/** Checks a query as the contract declares it for an operation. */
function validatorOf(operationId: string): ValidateFunction {
  let validate = validators.get(operationId);
  if (!validate) {
    const inQuery = parametersOf(operationId).filter((parameter) => parameter.in === 'query');
    const properties = Object.fromEntries(inQuery.map(({ name, schema }) => [name, schema]));
    const query = { type: 'object', properties, additionalProperties: false };
    validate = createAjv().compile({ type: 'object', properties: { query } });
    validators.set(operationId, validate);
  }
  return validate;
}

/** The error message for a query of an operation, by the contract; undefined when the query is right. */
function complaintAbout(operationId: string, text: string): string | undefined {
  const parameters = parametersOf(operationId);
  const validate = validatorOf(operationId);
  const query = readQuery(text);
  if (validate({ query: readIntegers(query, parameters) })) return undefined;
  return explainParameters(validate.errors ?? [], parameters, query).message;
}

t.test('a query is read as its client wrote it', async (t) => {
  const queries: [string, Record<string, string | string[]>][] = [
    ['', {}],
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a=1&a=2&b=3&a=', { a: ['1', '2', ''], b: '3' }],
    ['a', { a: '' }],
    ['=x', { '': 'x' }],
    ['a=b=c', { a: 'b=c' }],
    ['a=1+2&b=1%2B2', { a: '1 2', b: '1+2' }],
    ['%61=%C3%A9', { a: 'é' }],
    ['a=%zz&b=%', { a: '%zz', b: '%' }],
    ['a[]=1&a[b]=2', { 'a[]': '1', 'a[b]': '2' }],
    ['a;b=1', { 'a;b': '1' }],
    ['&&', {}],
    ['constructor=1&toString=2', { constructor: '1', toString: '2' }],
  ];
  for (const [text, expected] of queries) t.strictSame({ ...readQuery(text) }, expected, text);
});

t.test('a parameter called __proto__ is a name like any other', async (t) => {
  const query = readQuery('__proto__=1&__proto__=2&hasOwnProperty=3');
  t.strictSame(Object.keys(query), ['__proto__', 'hasOwnProperty']);
  t.equal(Object.getPrototypeOf(query), null, 'it inherits no name');
  t.match(complaintAbout('listJobs', '__proto__=1'), /^"__proto__" is not a parameter of this operation; /);
});

t.test('a query is read as it was written, for any names and values', async (t) => {
  const pairs = fc.array(
    fc.tuple(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ unit: 'grapheme' })),
  );
  const property = fc.property(pairs, (written) => {
    const query = readQuery(new URLSearchParams(written).toString());
    const names = [...new Set(written.map(([name]) => name))];
    return names.every((name) => {
      const values = written.filter(([other]) => other === name).map(([, value]) => value);
      return JSON.stringify([query[name]].flat()) === JSON.stringify(values);
    });
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }));
});

t.test('a name repeated as often as a request can hold is read in a moment', async (t) => {
  const tookMs = await processorMs(() => {
    t.equal(readQuery('a&'.repeat(8_000)).a?.length, 8_000);
  });
  t.ok(tookMs < 200, `${tookMs.toFixed(1)} ms`);
});

t.test('each complaint names the parameter, its rule and what was given', async (t) => {
  const time = 'an RFC 3339 time with an offset, like 2026-11-20T12:00:00.000Z';
  const date = 'a calendar date like 2026-11-20';
  // prettier-ignore
  const complaints: [string, string, string][] = [
    ['listJobs', 'limit=0', 'limit must be an integer from 1 to 100, not "0".'],
    ['listJobs', 'limit=101', 'limit must be an integer from 1 to 100, not "101".'],
    ['listJobs', 'limit=', 'limit must be an integer from 1 to 100, not "".'],
    ['listJobs', 'limit=1e1', 'limit must be an integer from 1 to 100, not "1e1".'],
    ['listJobs', 'limit=010', 'limit must be an integer from 1 to 100, not "010". Write it without leading zeros.'],
    ['listJobs', 'limit=00', 'limit must be an integer from 1 to 100, not "00".'],
    ['listJobs', 'limit=1&limit=2', 'limit must be given once, not 2 times.'],
    ['listJobs', 'cursor=', 'cursor must be the nextCursor of the page before, not "".'],
    ['listJobs', 'cursor=a%00b', 'cursor must be the nextCursor of the page before, not "a\\u0000b".'],
    ['listJobs', 'updatedSince=yesterday', `updatedSince must be ${time}, not "yesterday".`],
    ['listJobs', 'updatedSince=2026-11-20', `updatedSince must be ${time}, not "2026-11-20".`],
    ['listJobs', 'updatedSince=2026-02-30T00:00:00Z', `updatedSince must be ${time}, not "2026-02-30T00:00:00Z".`],
    ['listJobs', 'updatedSince=2026-11-20T12:00:00+01:00', `updatedSince must be ${time}, not "2026-11-20T12:00:00 01:00". Write the + of an offset as %2B.`],
    ['listInvoices', 'issuedFrom=2026-02-29', `issuedFrom must be ${date}, not "2026-02-29".`],
    ['listInvoices', 'issuedTo=20261120', `issuedTo must be ${date}, not "20261120".`],
    ['listInvoices', 'kind=receipt', 'kind must be one of invoice, credit_note, pro_forma, not "receipt".'],
    ['listInvoices', 'status=ISSUED', 'status must be one of issued, draft, all, not "ISSUED".'],
    ['listQuotes', 'status=sent&status=draft', 'status must be given once, not 2 times.'],
    ['listQuotes', 'versions=none', 'versions must be one of latest, all, not "none".'],
    ['listQuotes', 'customer=%20', 'customer must be an id of 1 to 64 letters, digits and the characters . _ : -, a letter or digit first, not " ".'],
    ['listJobs', 'updatedSinse=x', '"updatedSinse" is not a parameter of this operation; did you mean updatedSince?'],
    ['listJobs', 'LIMIT=5', '"LIMIT" is not a parameter of this operation; did you mean limit?'],
    ['listJobs', 'limt=5', '"limt" is not a parameter of this operation; did you mean limit?'],
    ['getJob', 'limit=5', '"limit" is not a parameter of this operation; it takes none.'],
    ['getJob', 'x', '"x" is not a parameter of this operation; it takes none.'],
  ];
  for (const [operationId, query, message] of complaints) {
    t.equal(complaintAbout(operationId, query), message, `${operationId}?${query}`);
  }
});

t.test('a complaint stays one short line of readable text, whatever was sent', async (t) => {
  const name = fc.oneof(
    fc.constantFrom('limit', 'cursor', 'kind', 'issuedFrom'),
    fc.string({ unit: anyCharacter }),
  );
  const value = fc.string({ unit: anyCharacter, maxLength: 2_000 });
  const property = fc.property(name, value, (oneName, oneValue) => {
    const query = new URLSearchParams([[oneName, oneValue]]).toString();
    const message = complaintAbout('listInvoices', query) ?? '';
    return message.length <= 600 && !/[\u0000-\u001f\u007f]/.test(message) && message.isWellFormed();
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 300 }));
});
