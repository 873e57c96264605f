import { setImmediate as turn } from 'node:timers/promises';

import { sql } from 'kysely';

import { DAY_MS } from '../../../contract/durations.ts';
import { dialectOf } from '../../store/dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import { boundTo, byCompany, type StatementCompany, throwFirst } from '../../store/machines.ts';
import { removeBefore } from '../../store/stored-tables.ts';
import { keyHours, keyUses } from '../../store/tables/keys.ts';
import { type RowOf, writeRow } from '../../store/tables/table.ts';
import { createRequestWriter, createUnwrittenRequests, type KeyRequest } from './stored-requests.ts';

/** Counter of requests per API key. It counts in memory and writes the counts later, so that no request waits for it. */
export interface KeyUsage extends AsyncDisposable {
  /** Counts a request with a valid key; `isLimited` when the rate limit refused it. */
  count: (company: string, keyId: string, isLimited: boolean) => void;
  /** Notes a request for the list of them, also one with a key that has ended. */
  note: (request: Omit<KeyRequest, 'at'>) => void;
  /** Writes the counts and requests since the last flush. Counts that can't be written are kept for the next flush. */
  flush: () => Promise<void>;
}

/** The counts of one key in one hour, and its last use in that hour. */
type Use = RowOf<typeof keyHours> & RowOf<typeof keyUses>;
type OfKey = Pick<Use, 'company' | 'keyId'>;

/** Delay between the first unwritten count and a flush. A killed process loses at most the counts of this time. */
const FLUSH_MS = 5_000;
/** Maximum number of unwritten hourly counts kept in memory. Requests that need another one aren't counted. */
const USES_MAX = 10_000;
/** Rows written in one transaction, during which SQLite answers no request. */
const ROWS_AT_ONCE = 250;
/** Time for which counts are kept: one day more than the 30 that the usage page shows. */
const KEPT_MS = 31 * DAY_MS;

/**
 * Creates the request counter of one process. The database adds up the counts of all processes.
 * @param onError called when counts couldn't be written, with the number of requests not counted because memory was full.
 */
export function openKeyUsage(
  engine: Engine,
  { now, onError }: { now: () => Date; onError: (error: unknown, lost: number) => void },
): KeyUsage {
  const counts = createCounts();
  const requests = createUnwrittenRequests();
  const writeRequests = createRequestWriter();
  let purgedBefore = '';
  let isOpen = true;
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();
  const writeDown = async () => {
    clearTimeout(timer);
    timer = undefined;
    const left = new Set(counts.take());
    const unwritten = new Set(requests.take());
    const firstKept = hourOf(new Date(now().getTime() - KEPT_MS).toISOString());
    try {
      await writeAll(engine, left, writeUses);
      await writeAll(engine, unwritten, writeRequests);
      while (firstKept !== purgedBefore && (await removeBefore(engine, keyHours, firstKept)));
      purgedBefore = firstKept;
    } catch (error) {
      for (const use of left) counts.add(use);
      for (const request of unwritten) requests.add(request);
      onError(error, counts.takeLost());
      waitForMore();
    }
  };
  const flush = () => (flushing = flushing.then(writeDown));
  const waitForMore = () => {
    if (isOpen) timer ??= setTimeout(() => void flush(), FLUSH_MS);
  };
  return {
    count(company, keyId, isLimited) {
      const [usedAt, answered] = [now().toISOString(), isLimited ? 0 : 1];
      counts.add({ company, keyId, hour: hourOf(usedAt), usedAt, answered, limited: 1 - answered });
      waitForMore();
    },
    note(request) {
      requests.add({ ...request, at: now().toISOString(), ms: Math.round(request.ms) });
      waitForMore();
    },
    flush,
    async [Symbol.asyncDispose]() {
      isOpen = false;
      await flush();
    },
  };
}

/** Creates the bounded store of counts that haven't been written yet. */
function createCounts() {
  let uses = new Map<string, Use>();
  let lost = 0;
  return {
    add(use: Use): void {
      const name = `${nameOf(use)}.${use.hour}`;
      const known = uses.get(name);
      if (known) {
        known.answered += use.answered;
        known.limited += use.limited;
        if (use.usedAt > known.usedAt) known.usedAt = use.usedAt;
      } else if (uses.size < USES_MAX) {
        uses.set(name, use);
      } else {
        lost += use.answered + use.limited;
      }
    },
    /** Removes and returns all counts, in an order that all processes share, so that simultaneous writes can't deadlock. */
    take(): Use[] {
      const taken = [...uses.keys()].sort().flatMap((name) => uses.get(name) ?? []);
      uses = new Map();
      return taken;
    },
    takeLost(): number {
      const taken = lost;
      lost = 0;
      return taken;
    },
  };
}

const nameOf = ({ company, keyId }: OfKey) => `${company}.${keyId}`;

const hourOf = (time: string) => `${time.slice(0, 'YYYY-MM-DDTHH'.length)}:00:00.000Z`;

/** Writes rows of keys in short transactions, and takes those that are written out of `left`. */
async function writeAll<Row extends OfKey>(
  engine: Engine,
  left: Set<Row>,
  write: (transaction: StoreTransaction, rows: readonly Row[]) => Promise<void>,
): Promise<void> {
  const done = await byCompany(engine, [...left], async (rows, company) => {
    for (let begin = 0; begin < rows.length; begin += ROWS_AT_ONCE) {
      const part = rows.slice(begin, begin + ROWS_AT_ONCE);
      await engine.transaction(async (transaction) => {
        const present = await ofPresentKeys(transaction, part, company);
        if (present.length > 0) await write(transaction, present);
      });
      for (const row of part) left.delete(row);
      // SQLite runs synchronously, so this lets requests be answered.
      await turn();
    }
  });
  throwFirst(done);
}

async function writeUses(transaction: StoreTransaction, uses: readonly Use[]): Promise<void> {
  await transaction
    .insertInto('key_hours')
    .values(uses.map((use) => writeRow(keyHours, use)))
    .onConflict((conflict) =>
      conflict.columns(['company', 'hour', 'key_id']).doUpdateSet({
        answered: sql`key_hours.answered + excluded.answered`,
        limited: sql`key_hours.limited + excluded.limited`,
      }),
    )
    .execute();
  // Uses are in the order of their hours, so a key's last one replaces the others.
  const latest = new Map(uses.map((use) => [nameOf(use), writeRow(keyUses, use)]));
  await transaction
    .insertInto('key_uses')
    .values([...latest.values()])
    .onConflict((conflict) =>
      conflict.columns(['company', 'key_id']).doUpdateSet({
        used_at: sql`CASE WHEN excluded.used_at > key_uses.used_at THEN excluded.used_at ELSE key_uses.used_at END`,
      }),
    )
    .execute();
}

/** Selects the rows whose keys still exist: a company may have been erased. On PostgreSQL, erasures wait for this. */
async function ofPresentKeys<Row extends OfKey>(
  transaction: StoreTransaction,
  rows: readonly Row[],
  ofCompany: StatementCompany,
): Promise<Row[]> {
  const named = new Map(rows.map((row) => [nameOf(row), row]));
  const keys = sql.join([...named.values()].map(({ company, keyId }) => sql`(${company}, ${keyId})`));
  const lock = dialectOf(transaction).forKeyShare;
  const found = await sql<OfKey>`
    SELECT company, id AS ${sql.id('keyId')} FROM api_keys WHERE (company, id) IN (VALUES ${keys}) AND ${boundTo(ofCompany)} ${lock}`.execute(
    transaction,
  );
  const present = new Set(found.rows.map(nameOf));
  return rows.filter((row) => present.has(nameOf(row)));
}

export type KeyHour = Omit<RowOf<typeof keyHours>, 'company'>;

/** Lists the written hourly counts of a company's keys since an hour, oldest first, `limit` at most. */
export async function listKeyHours(
  engine: Engine,
  company: string,
  { from, limit }: { from: string; limit: number },
): Promise<KeyHour[]> {
  return engine.db
    .selectFrom('key_hours')
    .select(['key_id as keyId', 'hour', 'answered', 'limited'])
    .where('company', '=', company)
    .where('hour', '>=', from)
    .orderBy('hour')
    .orderBy('key_id')
    .limit(limit)
    .execute();
}
