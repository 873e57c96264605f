import { createHash } from 'node:crypto';

import { companyDay } from '../../contract/company-time.ts';
import type { Change } from '../../contract/feed.ts';
import type { JsonText } from '../../contract/json-text.ts';
import { joinRecordTexts } from '../../contract/render.ts';
import { quote } from '../../errors.ts';
import { getCompany } from '../store/records/companies.ts';
import type { Connection } from '../store/dialects/dialect.ts';
import type { StoreTransaction } from '../store/engines/engine.ts';
import { findChange, movePosition, type NotedChange } from '../store/records/moves.ts';
import { findQuote } from '../store/records/quotes.ts';
import { findTexts } from '../store/records/record-writes.ts';
import type { Backoffice } from './backoffice.ts';
import { Refusal } from './refusal.ts';

/** Refuses a change if the earlier one with its id had different contents. @throws Refusal `duplicate_id`. */
export function refuseReusedId(
  { id = '', change: name }: Change,
  contentDigest: string,
  earlier: NotedChange,
): void {
  if (earlier.change === name && earlier.contentDigest === contentDigest) return;
  const difference = earlier.change === name ? 'with other values' : `as ${earlier.change}, and not ${name}`;
  throw new Refusal(
    'duplicate_id',
    `The change with the id ${quote(id)} was applied before ${difference}.`,
    '/id',
  );
}

/**
 * Advances the position of a change's source to its sequence number.
 * @throws Refusal `out_of_sequence` unless the number exceeds that of the last applied change.
 */
export async function moveSource(
  transaction: StoreTransaction,
  { company, id, source, sequence }: Change,
  now: Date,
): Promise<void> {
  if (source === undefined && sequence === undefined) return;
  if (source === undefined || sequence === undefined) {
    const missing = source === undefined ? 'source' : 'sequence';
    throw new Refusal('invalid_change', `The change has no ${missing}; the two go together.`, `/${missing}`);
  }
  const position = { sequence, id: id ?? null, appliedAt: now.toISOString() };
  if (await movePosition(transaction, { company, source }, position)) return;
  const message = `sequence is ${sequence}, which the source ${quote(source)} has already reached or passed.`;
  throw new Refusal('out_of_sequence', message, '/sequence');
}

/** Returns an applied change, with its record as the API returns it now; undefined for an unknown id. */
export async function findChangeRecord(
  { engine }: Backoffice,
  company: string,
  id: string,
  now: Date,
): Promise<(NotedChange & { record: JsonText<unknown> | null }) | undefined> {
  const noted = await findChange(engine.db, company, id);
  if (!noted) return undefined;
  const { timeZone } = await getCompany(engine, company);
  const record = await recordOf(engine.db, company, noted, companyDay(timeZone, now));
  return { ...noted, record: record ?? null };
}

/** Returns a change's record as the API returns it now; null if it was removed, undefined if the change names none. */
export async function recordOf(
  db: Connection,
  company: string,
  { resource, recordId }: NotedChange,
  today: string,
): Promise<JsonText<unknown> | null | undefined> {
  if (resource === null || recordId === null) return undefined;
  // A quote may have expired in the meantime.
  if (resource === 'quotes') return (await findQuote(db, company, recordId, today))?.body ?? null;
  const texts = await findTexts(db, resource, company, recordId);
  return texts ? joinRecordTexts(texts) : null;
}

/**
 * Returns the digest of a change's contents without its id, regardless of member order and white space.
 */
export function digestOfChange({ id: _id, ...content }: Change): string {
  return createHash('sha256')
    .update(JSON.stringify(content, (_key, value: unknown) => inOrder(value)))
    .digest('base64url');
}

function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
