import { hash } from 'node:crypto';

import { joinObjects, type JsonText } from './json-text.ts';
import { computedOnce } from './computed.ts';
import { contractDocument } from './document.ts';
import { type Resource, type ResourceRecord, schemaNames } from './records.ts';
import { type StoredRecord, upgradeRecord } from './upgrades.ts';
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
  const names: { body: string; whole?: string } = schemaNames[resource];
  const problem = recordProblem(names.whole ?? names.body, record) ?? storageProblem({ resource, record });
  if (problem) throw new InvalidRecordError(`${resource} ${JSON.stringify(record.id)}: ${problem}`);
  const summary = members(names.body);
  const detail = names.whole ? members(names.whole).filter((name) => !summary.includes(name)) : undefined;
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
  detail?: string;
  digest: string;
}

/** Says what is wrong with a stored record: by the contract, or that its digest is of another text. */
export function storedRecordProblem(
  resource: Resource,
  { body, detail, digest }: StoredTexts,
): string | undefined {
  const names: { body: string; whole?: string } = schemaNames[resource];
  let record: object;
  try {
    // If these aren't the texts of two objects, the joined text can't be parsed.
    record = JSON.parse(wholeText({ body, detail })) as object;
    const problem = recordProblem(names.body, JSON.parse(body));
    if (problem !== undefined) return problem;
  } catch {
    return 'the text is not JSON';
  }
  const problem = names.whole === undefined ? undefined : recordProblem(names.whole, record);
  if (problem !== undefined) return problem;
  if (digest !== digestOf(body, detail)) return 'the digest is of another text';
  return storageProblem({ resource, record });
}

/**
 * Renders a stored record anew: one that an earlier contract rendered becomes one of this contract.
 * @throws InvalidRecordError when this contract can't render it.
 */
export function renderStored(resource: Resource, stored: Omit<StoredTexts, 'digest'>): RenderedRecord {
  // Both texts were rendered from one record.
  const record = { ...parse(stored.body), ...parse(stored.detail ?? '{}') };
  return renderRecord({ resource, record: upgradeRecord(resource, record) } as unknown as ResourceRecord);
}

function parse(text: string): StoredRecord {
  return JSON.parse(text) as StoredRecord;
}

/** The text of the single record as the API returns it, of the two texts that were rendered of it. */
export function wholeText({
  body,
  detail,
}: {
  body: string;
  detail?: string | undefined;
}): JsonText<unknown> {
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
