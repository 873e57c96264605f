import { readFileSync } from 'node:fs';

import { root, type Schema } from '../../contract/_contract.ts';

/** The schemas of feed.yaml with every reference resolved. */
const { schemas } = (
  JSON.parse(readFileSync(new URL('generated/feed.dereferenced.json', root), 'utf8')) as {
    components: { schemas: Record<string, Schema> };
  }
).components;

export const changeSchemas = new Map(
  (schemas['Change']?.['oneOf'] as Schema[]).map((schema) => [
    schema.properties?.['change']?.const ?? '',
    schema,
  ]),
);

export const refusalCodes = schemas['RefusalCode']?.enum ?? [];

/** A sample for each pattern of which the schemas have no example. */
const samples: Record<string, string> = {
  '^[^\\u0000-\\u001f]+$': 'feed/1',
  '^[0-9a-f-]{36}$': '019a0000-0000-7000-8000-000000000001',
  '^[A-Z0-9]{2,3}$': 'HUR',
  '^[A-Z]{2,3}$': 'STI',
  '^[A-Z]{3}$': 'AAI',
  '^[0-9]{4}$': '0088',
  '^([0-9]{4}|[A-Z]{2})$': '9935',
  '^([0-9]{1,2}|ZZZ)$': '30',
  '^[0-9]{4,6}$': '123456',
  '^https?://[^\\u0000-\\u0020]+$': 'https://brennan.example/ts-1.pdf',
  '^-?(0|[1-9][0-9]{0,8})(\\.[0-9]{1,6})?$': '2.5',
  '^(?=.*[1-9])(0|[1-9][0-9]{0,8})(\\.[0-9]{1,8})?$': '1.17',
  '^[^\\u0000]*$': 'Labour',
  '^[^\\u0000-\\u0020\\u007f-\\u00a0\\u00ad\\u115f\\u1160\\u1680\\u180e\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ufeff\\uffa0\\ufff0-\\uffff]([^\\u0000-\\u001f\\u007f-\\u00a0\\u00ad\\u115f\\u1160\\u1680\\u180e\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ufeff\\uffa0\\ufff0-\\uffff]*[^\\u0000-\\u0020\\u007f-\\u00a0\\u00ad\\u115f\\u1160\\u1680\\u180e\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ufeff\\uffa0\\ufff0-\\uffff])?$':
    'RE-2026/17',
  '^[A-Za-z0-9+/]+={0,2}$': 'JVBERi0xLjc=',
  '^[\\w+/-]+$': 'Europe/Dublin',
  '^data:image/(png|jpeg);base64,[A-Za-z0-9+/]+=*$': 'data:image/png;base64,AAAA',
  '^\\d{4}-\\d{2}-\\d{2}[Tt ]\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?([Zz]|[+-]\\d{2}:\\d{2})$': '2026-11-20T12:00:00Z',
};

/** A value that has every member and two items of every list, each of them valid. */
export function sampleOf(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  // Of several types the first.
  if (schema.anyOf?.[0]) return sampleOf(schema.anyOf[0]);
  return sampleOfParts(schema) ?? sampleOfValue(schema);
}

function sampleOfParts(schema: Schema): unknown {
  const { properties, items, additionalProperties } = schema;
  if (properties) {
    return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, sampleOf(member)]));
  }
  if (typeof additionalProperties === 'object') return { one: sampleOf(additionalProperties) };
  if (!typesOf(schema).includes('array') || !items) return undefined;
  return schema['uniqueItems'] === true ? [sampleOf(items)] : [sampleOf(items), sampleOf(items)];
}

function sampleOfValue({ enum: values, examples, minimum, pattern }: Schema): unknown {
  if (values) return values[0];
  return examples?.find((candidate) => candidate !== null) ?? minimum ?? samples[pattern ?? ''];
}

/** A part of a value put wrong: `path` leads to it, `value` is what stands there; undefined for nothing at all. */
export interface Break {
  what: string;
  path: (string | number)[];
  value: unknown;
}

/** Every way to put one part of a valid value wrong. */
export function* breaksOf(schema: Schema, valid: unknown, path: Break['path'] = []): Generator<Break> {
  if (schema.const !== undefined) return;
  for (const { what, value } of wrongValues(schema, valid)) yield { what, path, value };
  for (const { what, name } of wrongMembers(schema, valid))
    yield { what, path: [...path, name], value: what === 'is missing' ? undefined : { name: 'x' } };
  for (const [name, member] of partsOf(valid)) {
    const inside = schema.properties?.[name] ?? schema.items ?? schema.additionalProperties;
    if (typeof inside === 'object') yield* breaksOf(inside, member, [...path, name]);
  }
}

/** The members of an object, and the last item of a list: the others are like it. */
function partsOf(valid: unknown): [name: string | number, member: unknown][] {
  if (Array.isArray(valid)) return [[valid.length - 1, valid.at(-1)]];
  return typeof valid === 'object' && valid !== null ? Object.entries(valid) : [];
}

function wrongMembers(
  { properties, required = [] }: Schema,
  valid: unknown,
): { what: string; name: string }[] {
  if (!properties || valid === null) return [];
  return [
    ...required.map((name) => ({ what: 'is missing', name })),
    ...['surplus', '__proto__', 'constructor', 'a/b~c', ''].map((name) => ({ what: 'is not known', name })),
  ];
}

type Wrong = Omit<Break, 'path'>;

function wrongValues(schema: Schema, valid: unknown): Wrong[] {
  return [
    ...wrongTypes(schema),
    ...(typeof valid === 'string' ? wrongTexts(schema, valid) : []),
    ...(typeof valid === 'number' ? wrongNumbers(schema) : []),
    ...(typeof valid === 'object' && valid !== null ? wrongSizes(schema, valid) : []),
  ];
}

const ofType: Record<string, unknown> = {
  ...{ null: null, boolean: true, integer: 7, number: 7.5, string: 'x', array: [], object: {} },
};

function typesOf({ type = [], anyOf = [] }: Schema): string[] {
  const types = [...[type].flat(), ...anyOf.flatMap(typesOf)];
  return types.includes('number') ? [...types, 'integer'] : types;
}

function wrongTypes(schema: Schema): Wrong[] {
  const right = typesOf(schema);
  return Object.entries(ofType)
    .filter(([type]) => !right.includes(type))
    .map(([type, value]) => ({ what: `is of type ${type}`, value }));
}

const noDates = '2026-02-29 2026-04-31 2026-13-01 2026-00-10 2026-11-00 20261120xx 2026-1-1'.split(' ');

function wrongTexts(
  { minLength = 0, maxLength, pattern, format, enum: values }: Schema,
  valid: string,
): Wrong[] {
  const wrong = [{ what: 'has half a surrogate pair', value: `${valid.slice(0, -1)}\ud800` }];
  if (minLength > 0) wrong.push({ what: 'is too short', value: valid.slice(0, minLength - 1) });
  if (maxLength !== undefined) wrong.push({ what: 'is too long', value: valid.padEnd(maxLength + 1, 'x') });
  if (pattern !== undefined)
    wrong.push({ what: 'has a control character', value: `${valid.slice(0, -1)}\u0000` });
  if (values) wrong.push({ what: 'is not in the list', value: `${valid}x` });
  if (format === 'date') wrong.push(...noDates.map((value) => ({ what: 'is no date', value })));
  if (format === 'date-time') {
    const noTimes = noDates.map((date) => `${date}T12:00:00Z`);
    noTimes.push('2026-11-20T12:00:00', '2026-11-20T24:00:00Z');
    wrong.push(...noTimes.map((value) => ({ what: 'is no time', value })));
  }
  if (format === 'uuid' || format === 'email') wrong.push({ what: `is no ${format}`, value: 'x'.repeat(36) });
  return wrong;
}

function wrongNumbers({ type, minimum, maximum }: Schema): Wrong[] {
  const wrong: Wrong[] = [];
  if (minimum !== undefined) wrong.push({ what: 'is too small', value: minimum - 1 });
  if (maximum !== undefined) {
    // Above 2^53 not every number has a successor.
    for (const value of [maximum + 1, 2 ** 53, 2 ** 53 + 2, 1e21, 1.7e308, JSON.parse('1e400') as number])
      wrong.push({ what: 'is too large', value });
  }
  if (type === 'integer') wrong.push({ what: 'is no whole number', value: Math.max(0, minimum ?? 0) + 0.5 });
  return wrong;
}

function wrongSizes({ maxItems, maxProperties, uniqueItems }: Schema, valid: object): Wrong[] {
  const wrong: Wrong[] = [];
  const [first] = Object.values(valid) as unknown[];
  if (maxItems !== undefined)
    wrong.push({ what: 'has too many items', value: Array.from({ length: maxItems + 1 }, () => first) });
  if (uniqueItems === true) wrong.push({ what: 'has a twin', value: [first, first] });
  if (maxProperties !== undefined) {
    const many = Array.from({ length: maxProperties + 1 }, (_, index) => [`n${index}`, first]);
    wrong.push({ what: 'has too many members', value: Object.fromEntries(many) as unknown });
  }
  return wrong;
}

/** A copy of a value with one part put wrong. */
export function broken(valid: unknown, { path, value }: Break): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const copy = (Array.isArray(valid) ? [...(valid as unknown[])] : { ...(valid as object) }) as Record<
    string,
    unknown
  >;
  const inside = rest.length === 0 ? value : broken(copy[name], { what: '', path: rest, value });
  if (inside === undefined) Reflect.deleteProperty(copy, name);
  // As JSON.parse does, and an assignment would not, for `__proto__`.
  else Object.defineProperty(copy, name, { value: inside, ...{ enumerable: true, configurable: true } });
  return copy;
}

/** The JSON Pointer (RFC 6901) of a path. */
export function pointerOf(path: Break['path']): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
