import { hash } from 'node:crypto';

import { joinObjects, type JsonText } from './json-text.ts';
import { computedOnce } from './computed.ts';
import { contractDocument, type JsonSchema } from './document.ts';
import { hasDetail, type Resource, type ResourceRecord, schemaNames } from './records.ts';
import { recordProblem } from './validators.ts';

/** A record as it is stored: `body` is what lists serve, `detail` holds the further members of the single record. */
export interface RenderedRecord {
  resource: Resource;
  id: string;
  record: ResourceRecord['record'];
  body: JsonText<unknown>;
  detail: JsonText<unknown> | undefined;
  /** SHA-1 of both texts in base64url, 27 characters. It tells versions apart, and protects nothing. */
  digest: string;
}

/** A record that the contract's own schema refuses; it must not be stored. */
export class InvalidRecordError extends Error {
  override readonly name = 'InvalidRecordError';
}

/**
 * Renders a record as the text that the API serves, its members in the contract's order.
 * @throws InvalidRecordError naming the member that the contract refuses; members it doesn't know are refused too,
 *   and so is a quote that is stored as expired.
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

/** The columns of a stored record. */
interface StoredTexts {
  body: string;
  detail?: string | undefined;
  digest: string;
}

/** Says what is wrong with a stored record: by the contract, or that its digest is of another text. */
export function storedRecordProblem(
  resource: Resource,
  { body, detail, digest }: StoredTexts,
): string | undefined {
  const names = schemaNames[resource];
  let record: object;
  try {
    // If these aren't the texts of two objects, the joined text can't be parsed.
    record = JSON.parse(wholeText({ body, detail })) as object;
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
 * Renders a stored record anew: one that an earlier contract rendered becomes one of this contract. The contract gives the order
 * of members, and a required one that it has gained has an `x-before` in its schema.
 * @throws InvalidRecordError when this contract can't render it.
 */
export function renderStored(resource: Resource, stored: Omit<StoredTexts, 'digest'>): RenderedRecord {
  const names: { body: string; whole?: string } = schemaNames[resource];
  // Both texts were rendered from one record.
  const record = JSON.parse(wholeText(stored)) as Record<string, unknown>;
  const schema = contractDocument().components.schemas[names.whole ?? names.body];
  return renderRecord({ resource, record: upgraded(record, schema) } as ResourceRecord);
}

/** A value of an earlier contract with the members that are required by now, as their schemas' `x-before` says. */
function upgraded(value: unknown, { properties = {}, items }: JsonSchema = {}): unknown {
  if (Array.isArray(value)) return value.map((item) => upgraded(item, items));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, upgraded(member, properties[name])]);
  const before = Object.entries(properties).flatMap(([name, schema]) =>
    'x-before' in schema ? [[name, schema['x-before']]] : [],
  );
  return Object.fromEntries([...before, ...members]) as unknown;
}

/** The text of the single record as the API returns it, of the two texts that were rendered of it. */
export function wholeText({ body, detail }: Omit<StoredTexts, 'digest'>): JsonText<unknown> {
  const text = body as JsonText<object>;
  return detail === undefined ? text : joinObjects(text, detail as JsonText<object>);
}

/** A quote expires by the passing of its validity; stored as expired, it would be missing among those that did. */
function storageProblem({ resource, record }: { resource: Resource; record: object }): string | undefined {
  const isExpired = resource === 'quotes' && (record as { status?: unknown }).status === 'expired';
  return isExpired ? '/status must be sent: it reads as expired after validUntil' : undefined;
}

const members = computedOnce((schemaName: string) =>
  Object.keys(contractDocument().components.schemas[schemaName]?.properties ?? {}),
);

function renderMembers(record: object, names: readonly string[]): JsonText<unknown> {
  const values = record as Record<string, unknown>;
  const rendered: Record<string, unknown> = {};
  for (const name of names) if (values[name] !== undefined) rendered[name] = values[name];
  return JSON.stringify(rendered) as JsonText<unknown>;
}
