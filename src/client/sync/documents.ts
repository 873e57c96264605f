import { ApiError } from '../errors.ts';
import type { CallOptions } from '../operations.ts';
import type { Changes, Complete } from './changes.ts';
import { inParallel } from './in-parallel.ts';
import type { AnyRecord, DocumentsAccess } from './lists.ts';
import type { DocumentsState } from './sink.ts';

/** The most that a company's calendar is ahead of UTC. */
const AHEAD_MS = 14 * 3_600_000;

/**
 * Reads the details of records, and follows those of which no list will tell that they change: drafts, and quotes that
 * are sent.
 * @param onDetail is told of each record that was read.
 */
export function completeDocuments(
  { whole }: DocumentsAccess,
  state: DocumentsState,
  options: CallOptions,
  onDetail: () => void,
): Complete {
  return async (records) => {
    if (!state.details) return follow({ put: records, remove: [] }, state);
    const found = await inParallel(records, async ({ id }) => {
      const record = await unlessGone(whole(id, options));
      onDetail();
      return record;
    });
    const put = found.filter((record) => record !== undefined);
    // Drafts that were discarded since the page was read. The copy may not have had them at all.
    const gone = records.filter((_record, index) => found[index] === undefined).map(({ id }) => id);
    return follow({ put, remove: gone.filter((id) => Object.hasOwn(state.drafts, id)) }, state);
  };
}

/** Finds the drafts that were discarded: they are no longer listed, and can't be read any more. */
export async function findDiscarded(
  { pages, whole }: DocumentsAccess,
  state: DocumentsState,
  options: CallOptions,
): Promise<Changes> {
  const missing = new Set(Object.keys(state.drafts));
  if (missing.size > 0)
    for await (const { data } of pages({ status: 'draft' }, options))
      for (const { id } of data) missing.delete(id);
  const remove: string[] = [];
  // Another one may have been issued meanwhile; the next pass reads it.
  for (const id of missing) if (!(await unlessGone(whole(id, options)))) remove.push(id);
  return follow({ put: [], remove }, state);
}

/**
 * Finds the quotes of the copy that have expired, which no list tells. Quotes with the same last day expire at the same
 * moment, by a calendar that isn't known here: so it asks for one after the other until one is still valid.
 */
export async function* findExpiredDocuments(
  { whole }: DocumentsAccess,
  state: DocumentsState,
  options: CallOptions,
): AsyncGenerator<Changes> {
  // The checkpoint of the pass that has just ended is the time by the clock of the service, less a minute.
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

/** @returns undefined when there is no such record any more. */
async function unlessGone(reading: Promise<AnyRecord>): Promise<AnyRecord | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return undefined;
    throw error;
  }
}
