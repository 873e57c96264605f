import { ApiError, brokenContract } from '../errors.ts';
import type { Page } from '../listing.ts';
import type { CallOptions } from '../operations.ts';
import type { AnyRecord, ListAccess, Query } from './lists.ts';
import type { ListState } from './sink.ts';

/** The changes that a copy needs. The state has been changed already, and has to be kept together with it. */
export interface Changes {
  put: AnyRecord[];
  remove: string[];
}

/** Reads what a page leaves out of its records. */
export type Complete = (records: AnyRecord[]) => Promise<Changes>;

/** The time by which a pass overlaps the one before, because clocks differ ("Staying in sync" in the contract). */
const OVERLAP_MS = 60_000;

/** The most records that are remembered as unchanged. Others are put again, which does no harm. */
const RECENT_MAX = 10_000;

/**
 * Reads what has changed in a list since its checkpoint, page by page, or goes on where that was broken off.
 * @param state is brought forward with each page.
 */
export async function* readChanges(
  access: ListAccess,
  state: ListState,
  complete: Complete,
  options: CallOptions,
): AsyncGenerator<Changes> {
  const isResumed = state.pass !== undefined;
  try {
    for await (const page of access.pages(queryOf(state), options)) yield await take(page, state, complete);
  } catch (error) {
    if (!isResumed || !(error instanceof ApiError) || error.code !== 'invalid_cursor') throw error;
    // A replaced service may not know the cursor. The list is then started again.
    delete state.pass;
    for await (const page of access.pages(queryOf(state), options)) yield await take(page, state, complete);
  }
}

/** The query of a list for its next pass, or for the rest of the one that was broken off. */
export function queryOf({ checkpoint, pass }: ListState): Query {
  return {
    ...(checkpoint !== undefined && { updatedSince: checkpoint }),
    ...(pass && { cursor: pass.cursor }),
  };
}

async function take(
  { data, nextCursor, date }: Page<AnyRecord>,
  state: ListState,
  complete: Complete,
): Promise<Changes> {
  const startedAt = state.pass?.startedAt ?? date?.toISOString();
  if (startedAt === undefined)
    throw brokenContract('The answer has no Date, so nothing can be kept in sync with it.');
  const changes = await complete(data.filter((record) => !isKnown(record, state)));
  // The time before the first page, because a record on it may change while later pages are read.
  const checkpoint = new Date(Date.parse(startedAt) - OVERLAP_MS).toISOString();
  remember(changes, state, checkpoint);
  if (nextCursor === null) endPass(state, checkpoint);
  else state.pass = { startedAt, cursor: nextCursor };
  return changes;
}

/** The time of a record's last change. A submission never changes. */
function stampOf({ updatedAt, createdAt = '' }: AnyRecord): string {
  return updatedAt ?? createdAt;
}

/** Whether the copy has this state of the record, or a later one. */
function isKnown(record: AnyRecord, { recent = {} }: ListState): boolean {
  // An id may be the name of an inherited property.
  return Object.hasOwn(recent, record.id) && (recent[record.id] ?? '') >= stampOf(record);
}

/** Remembers the records that the next pass shows again, so that they aren't put twice. */
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
