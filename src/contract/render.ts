import { hash } from 'node:crypto';

import { joinObjects, type JsonText } from './json-text.ts';
import { memoized } from './computed.ts';
import { contractDocument, type JsonSchema } from './document.ts';
import { hasDetail, type Resource, type ResourceRecord, schemaNames } from './records.ts';
import { recordProblem } from './validators.ts';

/** A record ready to be stored: `body` is its text in lists, and `detail` has the further fields of the single record. */
export interface RenderedRecord {
  resource: Resource;
  id: string;
  record: ResourceRecord['record'];
  body: JsonText<unknown>;
  detail: JsonText<unknown> | undefined;
  /** SHA-1 of both texts in base64url, 27 characters. It only distinguishes versions and isn't used for security. */
  digest: string;
}

/** Error for a record that the contract's own schema rejects, and that must not be stored. */
export class InvalidRecordError extends Error {
  override readonly name = 'InvalidRecordError';
}

/**
 * Renders a record as the text that the API serves, with its fields in the contract's order.
 * @throws InvalidRecordError naming the field that the contract rejects. Unknown fields are rejected too,
 *   and so is a quote with the status `expired`.
 */
export function renderRecord({ resource, record }: ResourceRecord): RenderedRecord {
  const names = schemaNames[resource];
  const problem = recordProblem(names.whole, record) ?? storageProblem({ resource, record });
  if (problem) throw new InvalidRecordError(`${resource} ${JSON.stringify(record.id)}: ${problem}`);
  const summary = members(names.body);
  const detail = hasDetail(resource)
    ? members(names.whole).filter((name) => !summary.includes(name))
    : undefined;
  const body = renderMembers(record, summary);
  const detailText = detail && renderMembers(record, detail);
  return { resource, id: record.id, record, body, detail: detailText, digest: digestOf(body, detailText) };
}

function digestOf(body: string, detail = ''): string {
  return hash('sha1', `${body}${detail}`, 'base64url');
}

/** Texts of a stored record, and their digest, as in its table's columns. */
interface StoredTexts {
  body: string;
  detail?: string | undefined;
  digest: string;
}

/** Returns the problem with a stored record: a breach of the contract or a wrong digest; undefined if it is valid. */
export function storedRecordProblem(
  resource: Resource,
  { body, detail, digest }: StoredTexts,
): string | undefined {
  const names = schemaNames[resource];
  let record: object;
  try {
    // Parsing the joined text fails unless both are texts of objects.
    record = JSON.parse(joinRecordTexts({ body, detail })) as object;
    const problem = recordProblem(names.body, JSON.parse(body));
    if (problem !== undefined) return problem;
  } catch {
    return 'the text is not JSON';
  }
  const problem = hasDetail(resource) ? recordProblem(names.whole, record) : undefined;
  if (problem !== undefined) return problem;
  if (digest !== digestOf(body, detail)) return 'the digest is of another text';
  return storageProblem({ resource, record });
}

/**
 * Renders a stored record again, upgrading it from an earlier version of the contract to this one. Fields are put in this
 * version's order, and new required fields get the `x-before` value from their schema.
 * @throws InvalidRecordError if the upgraded record breaks this version of the contract.
 */
export function renderStored(resource: Resource, stored: Omit<StoredTexts, 'digest'>): RenderedRecord {
  const names: { body: string; whole?: string } = schemaNames[resource];
  // Both texts were rendered from one record.
  const record = JSON.parse(joinRecordTexts(stored)) as Record<string, unknown>;
  const schema = contractDocument().components.schemas[names.whole ?? names.body];
  return renderRecord({ resource, record: upgraded(record, schema) } as ResourceRecord);
}

/** Returns a value from an earlier contract with newly required fields added, as given by `x-before` in their schemas. */
function upgraded(value: unknown, { properties = {}, items }: JsonSchema = {}): unknown {
  if (Array.isArray(value)) return value.map((item) => upgraded(item, items));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, upgraded(member, properties[name])]);
  const before = Object.entries(properties).flatMap(([name, schema]) =>
    'x-before' in schema ? [[name, schema['x-before']]] : [],
  );
  return Object.fromEntries([...before, ...members]) as unknown;
}

/** Returns the single record that the API serves, joined from its two stored texts. */
export function joinRecordTexts({ body, detail }: Omit<StoredTexts, 'digest'>): JsonText<unknown> {
  const text = body as JsonText<object>;
  return detail === undefined ? text : joinObjects(text, detail as JsonText<object>);
}

/** Returns the problem with storing a quote as expired: lists work expiry out from `validUntil`, and would omit it. */
function storageProblem({ resource, record }: { resource: Resource; record: object }): string | undefined {
  const isExpired = resource === 'quotes' && (record as { status?: unknown }).status === 'expired';
  return isExpired ? '/status must be sent: it reads as expired after validUntil' : undefined;
}

const members = memoized((schemaName: string) =>
  Object.keys(contractDocument().components.schemas[schemaName]?.properties ?? {}),
);

function renderMembers(record: object, names: readonly string[]): JsonText<unknown> {
  const values = record as Record<string, unknown>;
  const rendered: Record<string, unknown> = {};
  for (const name of names) if (values[name] !== undefined) rendered[name] = values[name];
  return JSON.stringify(rendered) as JsonText<unknown>;
}
