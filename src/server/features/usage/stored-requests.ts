import { sql } from 'kysely';

import { type Connection, dialectOf } from '../../store/dialects/dialect.ts';
import type { Reads, StoreTransaction } from '../../store/engines/engine.ts';
import { hasStatus } from '../../store/statuses.ts';
import { deleteSome } from '../../store/stored-tables.ts';
import { keyRequests } from '../../store/tables/keys.ts';
import { readRow, type RowOf, writeRow } from '../../store/tables/table.ts';

export type KeyRequest = RowOf<typeof keyRequests>;

export const REQUEST_DAYS = 7;
/** Requests kept for each company, and those that a process writes before it removes the oldest again. */
const KEPT_MAX = 50_000;
const TRIM_EVERY = 1_000;
/** Maximum number of unwritten requests in memory: in all, of each key, and of each key that the rate limit refused. */
const UNWRITTEN_MAX = 10_000;
const OF_KEY_MAX = 500;
/** Few, so that a program that goes on asking doesn't push out the days before. */
const LIMITED_MAX = 10;

/** Creates the bounded store of requests that haven't been written yet. Those beyond its bounds aren't listed. */
export function createUnwrittenRequests() {
  let unwritten: KeyRequest[] = [];
  let counts = new Map<string, number>();
  return {
    add(request: KeyRequest): void {
      const isLimited = request.code === 'rate_limited';
      const name = `${request.company}.${request.keyId}.${isLimited}`;
      const count = counts.get(name) ?? 0;
      if (count >= (isLimited ? LIMITED_MAX : OF_KEY_MAX) || unwritten.length >= UNWRITTEN_MAX) return;
      counts.set(name, count + 1);
      unwritten.push(request);
    },
    take(): KeyRequest[] {
      const taken = unwritten;
      unwritten = [];
      counts = new Map();
      return taken;
    },
  };
}

/** Creates the function that writes requests and, once enough of a company were written, removes its oldest. */
export function createRequestWriter() {
  const counts = new Map<string, number>();
  return async (transaction: StoreTransaction, requests: readonly KeyRequest[]): Promise<void> => {
    await transaction
      .insertInto('key_requests')
      .values(requests.map((request) => writeRow(keyRequests, request)))
      .onConflict((known) => known.doNothing())
      .execute();
    for (const [company, { length }] of Map.groupBy(requests, (request) => request.company)) {
      // A process begins with a trim, because it doesn't know how many others have written.
      const count = (counts.get(company) ?? TRIM_EVERY) + length;
      counts.set(company, count % TRIM_EVERY);
      if (count >= TRIM_EVERY) await trimRequests(transaction, company);
    }
  };
}

async function trimRequests(transaction: StoreTransaction, company: string): Promise<void> {
  const last = await newestFirst(transaction, company).offset(KEPT_MAX).limit(1).executeTakeFirst();
  const isOld = sql<boolean>`(at, id) <= (${last?.at}, ${last?.id})`;
  const lock = dialectOf(transaction).forUpdateSkipLocked;
  if (last) await deleteSome(transaction, keyRequests, company, { isOld, countMax: 2 * TRIM_EVERY, lock });
}

function newestFirst(db: Connection, company: string) {
  const all = db.selectFrom('key_requests').selectAll().where('company', '=', company);
  return all.orderBy('at', 'desc').orderBy('id', 'desc');
}

type RequestFilter = Partial<Record<'key' | 'status' | 'code' | 'id' | 'before', string | undefined>>;

/**
 * Lists the stored API requests of a company that match the filters, newest first.
 * @param chosen a key's id, a status or a class such as `4xx`, a code, a request's id, and the time and id of the request after which the
 *   list goes on; each is empty for all.
 */
export async function listKeyRequests(
  { db }: Reads,
  company: string,
  { key, status, code, id: asked, before }: RequestFilter,
  { from, until, limit }: { from: Date; until: Date; limit: number },
): Promise<KeyRequest[]> {
  let query = newestFirst(db, company).limit(limit);
  query = query.where('at', '>=', from.toISOString()).where('at', '<', until.toISOString());
  if (key) query = query.where('key_id', '=', key);
  if (code) query = query.where('code', '=', code);
  if (asked) query = query.where('id', '=', asked);
  if (status) query = query.where(hasStatus(sql.ref('status'), status));
  const [at = '', id = ''] = before?.split(' ') ?? [];
  if (before) query = query.where(sql<boolean>`(at, id) < (${at}, ${id})`);
  return (await query.execute()).map((row) => readRow(keyRequests, row));
}
