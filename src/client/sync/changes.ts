import { ApiError, brokenContract } from '../errors.ts';
import type { Page } from '../listing.ts';
import type { CallOptions } from '../operations.ts';
import type { AnyRecord, ListAccess, Query } from './lists.ts';
import type { ListState } from './sink.ts';

/** Changes that are to be written to a copy. The state already includes them, so both must be stored together. */
export interface Changes {
  put: AnyRecord[];
  remove: string[];
}

/** A function that turns a page's records into changes, reading any details that the list leaves out. */
export type ReadDetails = (records: AnyRecord[]) => Promise<Changes>;

/** The milliseconds by which a pass overlaps the previous one, because clocks differ ("Staying in sync" in the contract). */
const OVERLAP_MS = 60_000;

/** The maximum number of records remembered as already copied. Others are put again, which does no harm. */
const RECENT_MAX = 10_000;

/**
 * Yields the changes of a list since its checkpoint, page by page, or those left by an interrupted pass.
 * @param state updated in place with each page.
 */
export async function* readChanges(
  access: ListAccess,
  state: ListState,
  complete: ReadDetails,
  options: CallOptions,
): AsyncGenerator<Changes> {
  const isResumed = state.pass !== undefined;
  try {
    for await (const page of access.pages(queryOf(state), options)) yield await take(page, state, complete);
  } catch (error) {
    if (!isResumed || !(error instanceof ApiError) || error.code !== 'invalid_cursor') throw error;
    // A service that was replaced may not know the cursor. The pass is then started again.
    delete state.pass;
    for await (const page of access.pages(queryOf(state), options)) yield await take(page, state, complete);
  }
}

/** Returns the query for the next pass through a list, or for the rest of an interrupted pass. */
export function queryOf({ checkpoint, pass }: ListState): Query {
  return {
    ...(checkpoint !== undefined && { updatedSince: checkpoint }),
    ...(pass && { cursor: pass.cursor }),
  };
}

async function take(
  { data, nextCursor, date }: Page<AnyRecord>,
  state: ListState,
  complete: ReadDetails,
): Promise<Changes> {
  const startedAt = state.pass?.startedAt ?? date?.toISOString();
  if (startedAt === undefined)
    throw brokenContract('The answer has no Date, so nothing can be kept in sync with it.');
  const changes = await complete(data.filter((record) => !isKnown(record, state)));
  // The first page's time counts, because a record on it may change while later pages are read.
  const checkpoint = new Date(Date.parse(startedAt) - OVERLAP_MS).toISOString();
  remember(changes, state, checkpoint);
  if (nextCursor === null) endPass(state, checkpoint);
  else state.pass = { startedAt, cursor: nextCursor };
  return changes;
}

/** Returns the time of a record's last change, or of its creation for a submission, which never changes. */
function stampOf({ updatedAt, createdAt = '' }: AnyRecord): string {
  return updatedAt ?? createdAt;
}

/** Whether the copy already has this version of a record, or a later one. */
function isKnown(record: AnyRecord, { recent = {} }: ListState): boolean {
  // An id could be the name of an inherited property.
  return Object.hasOwn(recent, record.id) && (recent[record.id] ?? '') >= stampOf(record);
}

/** Adds to the state the records that the next pass will list again, so that they aren't put twice. */
function remember({ put, remove }: Changes, state: ListState, checkpoint: string): void {
  const recent = (state.recent ??= {});
  let room = RECENT_MAX - Object.keys(recent).length;
  for (const record of put) {
    const stamp = stampOf(record);
    if (stamp < checkpoint || room <= 0) continue;
    recent[record.id] = stamp;
    room -= 1;
  }
  for (const id of remove) Reflect.deleteProperty(recent, id);
}

function endPass(state: ListState, checkpoint: string): void {
  state.checkpoint = checkpoint;
  delete state.pass;
  const shownAgain = Object.entries(state.recent ?? {}).filter(([, stamp]) => stamp >= checkpoint);
  state.recent = Object.fromEntries(shownAgain);
}
