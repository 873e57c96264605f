import { readFileSync } from 'node:fs';

import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';

import type { components } from '../../generated/feed.ts';
import type { JsonSchema } from './document.ts';
import { createAjv } from './validators.ts';

type Schemas = components['schemas'];

/** An action by a company's team, as its business system reports it (src/server/backoffice/feed.yaml). */
export type Change = Schemas['Change'];
export type ChangeName = Change['change'];
export type ChangeOf<Name extends ChangeName> = Extract<Change, { change: Name }>;
export type ChangeContent<Name extends ChangeName> = ChangeOf<Name>['with'];

export type NewJob = Schemas['NewJob'];
export type NewInvoice = Schemas['NewInvoice'];
export type DraftLine = Schemas['DraftLine'];
export type NamedBuyer = Schemas['NamedBuyer'];
export type DocumentTerms = Schemas['DocumentTerms'];
export type PartyIdentifier = Schemas['PartyIdentifier'];
export type ElectronicAddress = Schemas['ElectronicAddress'];
/** A discount or charge as given in the feed. The code list of `reasonCode` differs between the two. */
export type GivenAdjustment = Schemas['LineAllowance'];
export type GivenExchange = NonNullable<Schemas['Exchange']>;
export type Answer = Schemas['Answer'];
/** Answer to one change in a batch. */
export type BatchAnswer = Schemas['BatchAnswer'];
export type RefusalCode = Schemas['RefusalCode'];
export type PortalLinkRequest = Schemas['PortalLinkRequest'];

/** Problem with a change: a sentence that names the wrong value, and the value's location as a JSON Pointer. */
export interface ChangeProblem {
  code: 'malformed_line' | 'invalid_change' | 'unknown_change';
  message: string;
  path: string;
}

interface FeedDocument {
  openapi: string;
  info: object;
  security: object[];
  paths: Record<string, Record<string, { operationId: string; requestBody?: object; responses: object }>>;
  components: {
    schemas: Record<string, JsonSchema> & { Change: { oneOf: JsonSchema[] } };
    securitySchemes: object;
  };
}

let document: FeedDocument | undefined;

/** Returns the feed's contract with every `$ref` resolved. */
export function feedDocument(): FeedDocument {
  document ??= JSON.parse(
    readFileSync(new URL('../../generated/feed.dereferenced.json', import.meta.url), 'utf8'),
  ) as FeedDocument;
  return document;
}

export function changeNames(): string[] {
  return [...changeSchemas().keys()];
}

/** Returns the problem with a value that should be a change; undefined if it is valid. */
export function changeProblem(value: unknown): ChangeProblem | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = `A change must be an object, not ${formatForMessage(value)}.`;
    return { code: 'malformed_line', message, path: '' };
  }
  const { change } = value as { change?: unknown };
  if (typeof change !== 'string') {
    const message = `change must be the name of a change, not ${formatForMessage(change)}.`;
    return { code: 'invalid_change', message, path: '/change' };
  }
  const schema = changeSchemas().get(change);
  if (!schema) {
    const message = `There is no change ${formatForMessage(change)}; the changes are ${changeNames().join(', ')}.`;
    return { code: 'unknown_change', message, path: '/change' };
  }
  const validate = validatorOf(schema);
  // Testing the text is quick, and almost always finds nothing.
  const unkeptText = UNKEPT.test(JSON.stringify(value)) ? unkeptProblem(value) : undefined;
  if (unkeptText || validate(value)) return unkeptText;
  const error = mostTelling(validate.errors ?? []);
  return error && { code: 'invalid_change', ...describe(error) };
}

/** Returns the problem with a value that should be a request for a portal link; undefined if it is valid. */
export function portalLinkProblem(value: unknown): string | undefined {
  const { PortalLinkRequest = {} } = feedDocument().components.schemas;
  const validate = validatorOf(PortalLinkRequest);
  const error = validate(value) ? undefined : mostTelling(validate.errors ?? []);
  // The code that creates the link reports which character of a name or address is invalid.
  const isLeft = error?.keyword === 'pattern' && error.instancePath !== '/company';
  return error && !isLeft ? describe(error, 'The body').message : undefined;
}

/** Returns the most helpful error: if several types are allowed, the one about the value's own type, not the first. */
function mostTelling(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const last = errors.at(-1);
  if (last?.keyword !== 'anyOf') return errors[0];
  return errors.find(
    ({ keyword, instancePath }) => keyword !== 'type' || instancePath.length > last.instancePath.length,
  );
}

/** Matches characters that JSON escapes and no database can store: U+0000 and lone surrogates. */
const UNKEPT = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** Finds a string or property name that can't be stored. The schemas' patterns don't cover names that companies choose. */
function unkeptProblem(value: unknown, path = ''): ChangeProblem | undefined {
  if (typeof value === 'string' || typeof value !== 'object' || value === null) {
    return typeof value === 'string' && UNKEPT.test(JSON.stringify(value)) ? unkept(value, path) : undefined;
  }
  for (const [name, member] of Object.entries(value)) {
    const at = `${path}/${pointerPart(name)}`;
    const problem = UNKEPT.test(JSON.stringify(name)) ? unkept(name, at) : unkeptProblem(member, at);
    if (problem) return problem;
  }
  return undefined;
}

function unkept(text: string, path: string): ChangeProblem {
  const message = `${shortened(path)} has ${formatForMessage(text)}, and no database can store U+0000 or half a surrogate pair.`;
  return { code: 'invalid_change', message, path };
}

let schemas: Map<string, JsonSchema> | undefined;
let changeAjv: Ajv2020 | undefined;

/** Returns the JSON Schemas of all changes, by the change's name. */
function changeSchemas(): Map<string, JsonSchema> {
  const { Change } = feedDocument().components.schemas;
  return (schemas ??= new Map(
    Change.oneOf.map((schema) => [String(schema.properties?.change?.const), schema]),
  ));
}

/** Returns the validator for a schema, which Ajv compiles at first use and then caches. */
function validatorOf(schema: JsonSchema): ValidateFunction {
  changeAjv ??= createAjv({ allErrors: false, verbose: true });
  return changeAjv.compile(schema);
}

function describe(error: ErrorObject, whole = 'The change'): Omit<ChangeProblem, 'code'> {
  const { instancePath, keyword, params, data, schema, parentSchema } = error;
  const { missingProperty, additionalProperty } = params as Record<string, string | undefined>;
  const at = instancePath === '' ? whole : shortened(instancePath);
  if (missingProperty !== undefined) {
    const path = `${instancePath}/${pointerPart(missingProperty)}`;
    return { message: `${at} has no ${missingProperty}.`, path };
  }
  if (additionalProperty !== undefined) {
    const path = `${instancePath}/${pointerPart(additionalProperty)}`;
    return { message: `${at} has no member ${formatForMessage(additionalProperty)}.`, path };
  }
  const words: Record<string, () => string> = {
    anyOf: () => `must be ${(schema as JsonSchema[]).map(({ type }) => String(type)).join(',')}`,
    pattern: () => `must be ${String(parentSchema?.['x-patternDescription'])}`,
  };
  const rule = words[keyword]?.() ?? error.message ?? 'is not valid';
  const allowed =
    keyword === 'enum' ? `: ${(params as { allowedValues: unknown[] }).allowedValues.join(', ')}` : '';
  return { message: `${at} is ${formatForMessage(data)}; it ${rule}${allowed}.`, path: instancePath };
}

/** Returns a property name escaped for use in a JSON Pointer (RFC 6901 section 3). */
export function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

const SHOWN_CHARACTERS_MAX = 80;

/** Returns a value as JSON on one line, truncated if long, for use in a message. */
export function formatForMessage(value: unknown): string {
  // JSON.stringify(undefined) is undefined.
  const text = (JSON.stringify(value) as string | undefined) ?? 'nothing';
  return text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}…`.toWellFormed() : text;
}

/** Returns a path truncated for a message, because companies choose names in it, which can be of any length. */
function shortened(path: string): string {
  return formatForMessage(path).replace(/^"/, '').replace(/"$/, '');
}
