import { ApiError } from '../errors.ts';
import type { CallOptions } from '../operations.ts';
import type { Changes, ReadDetails } from './changes.ts';
import { inParallel } from './in-parallel.ts';
import type { AnyRecord, DocumentsAccess } from './lists.ts';
import type { DocumentsState } from './sink.ts';

/** The milliseconds that the time zone furthest ahead is ahead of UTC. */
const AHEAD_MS = 14 * 3_600_000;

/**
 * Returns the function that reads the details of listed records. It also tracks drafts and sent quotes, because no list
 * reports that a draft was discarded or a quote expired.
 * @param onDetail called after each record that is read.
 */
export function createDetailReader(
  { whole }: DocumentsAccess,
  state: DocumentsState,
  options: CallOptions,
  onDetail: () => void,
): ReadDetails {
  return async (records) => {
    if (!state.details) return follow({ put: records, remove: [] }, state);
    const found = await inParallel(records, async ({ id }) => {
      const record = await unlessGone(whole(id, options));
      onDetail();
      return record;
    });
    const put = found.filter((record) => record !== undefined);
    // Drafts discarded since the page was read. The copy might never have had them.
    const gone = records.filter((_record, index) => found[index] === undefined).map(({ id }) => id);
    return follow({ put, remove: gone.filter((id) => Object.hasOwn(state.drafts, id)) }, state);
  };
}

/** Returns the removal of drafts that were discarded: they are no longer listed, and can no longer be read. */
export async function readDiscardedDrafts(
  { pages, whole }: DocumentsAccess,
  state: DocumentsState,
  options: CallOptions,
): Promise<Changes> {
  const missing = new Set(Object.keys(state.drafts));
  if (missing.size > 0)
    for await (const { data } of pages({ status: 'draft' }, options))
      for (const { id } of data) missing.delete(id);
  const remove: string[] = [];
  // A draft that isn't listed may also have been issued meanwhile; the next pass reads it.
  for (const id of missing) if (!(await unlessGone(whole(id, options)))) remove.push(id);
  return follow({ put: [], remove }, state);
}

/**
 * Yields the copy's quotes that have expired, because no list reports that. Quotes with the same last day expire together,
 * but the company's time zone isn't known here: so it reads them in order of that day until one is still valid.
 */
export async function* findExpiredQuotes(
  { whole }: DocumentsAccess,
  state: DocumentsState,
  options: CallOptions,
): AsyncGenerator<Changes> {
  // The checkpoint of the pass that has just ended is its start by the service's clock, less a minute.
  const today = new Date(Date.parse(state.checkpoint ?? '') + AHEAD_MS).toISOString().slice(0, 10);
  const due = Object.entries(state.validUntil)
    .filter(([, day]) => day < today)
    .sort(([, a], [, b]) => (a < b ? -1 : 1));
  for (const [id, day] of due) {
    const record = await unlessGone(whole(id, options));
    if (record?.status === 'sent' && record.validUntil === day) return;
    yield follow(record ? { put: [record], remove: [] } : { put: [], remove: [id] }, state);
  }
}

function follow(changes: Changes, { drafts, validUntil }: DocumentsState): Changes {
  for (const record of changes.put) {
    if (record.status === 'draft') drafts[record.id] = true;
    else Reflect.deleteProperty(drafts, record.id);
    if (record.status === 'sent' && record.validUntil) validUntil[record.id] = record.validUntil;
    else Reflect.deleteProperty(validUntil, record.id);
  }
  for (const id of changes.remove) {
    Reflect.deleteProperty(drafts, id);
    Reflect.deleteProperty(validUntil, id);
  }
  return changes;
}

/** Returns the record that is being read, or undefined if it no longer exists. */
async function unlessGone(reading: Promise<AnyRecord>): Promise<AnyRecord | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return undefined;
    throw error;
  }
}
