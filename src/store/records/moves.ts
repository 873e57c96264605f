import { type RawBuilder, sql } from 'kysely';

import { renderingDigest, resources } from '../../contract/rendering.ts';
import { unavailable } from '../../errors.ts';
import type { Command, Engine, StoreTransaction } from '../engines/engine.ts';

/** The facts of a company that every move needs. */
export interface LockedCompany {
  id: string;
  timeZone: string;
  currency: string;
  /** By kind of document; a kind that isn't there is numbered as usual. */
  numberFormats: Partial<Record<string, string>>;
  lastStampMs: number;
  /** The latest time that the API told its readers, or some seconds less; see served-clock.ts. */
  servedMs: number;
}

/** A change that was made: its name, and the digest of what it said; null of one that was made by an earlier version. */
export interface NotedChange {
  change: string;
  contentDigest: string;
}

type ChangeNote = NotedChange & { company: string; id: string; appliedAt: string };

/** The statements of moves beside those for records, inside their transaction. */
export interface MoveStore {
  /**
   * Makes this transaction the only one that moves the company until it ends: a company's changes are serial
   * (design.md section 2, point 5). Undefined when there is no such company.
   * @throws AppError `unavailable` once a later version renders records anew: this one would store them by its own contract.
   */
  lockCompany: (transaction: StoreTransaction, company: string) => Promise<LockedCompany | undefined>;
  /** Keeps the latest stamp, which the next move of the company goes on from. */
  setLastStamp: Command<{ company: string; lastStampMs: number }, unknown>;
  /** Notes that a change of the feed is made, unless one with its id is noted already: then that one is returned. */
  noteChange: (transaction: StoreTransaction, note: ChangeNote) => Promise<NotedChange | undefined>;
  /** Finds the issued document of the company that has that number. */
  findNumber: Command<{ company: string; number: string }, { id: string }>;
  /** Finds the quote of that group, in the one version that isn't revised: there is an index of those. */
  findQuoteGroup: Command<{ company: string; quoteGroupId: string }, { id: string }>;
}

export function createMoveStore(engine: Engine): MoveStore {
  return {
    lockCompany: createLock(engine),
    noteChange: createNotes(engine),
    setLastStamp: engine.command((db, { company, lastStampMs }) =>
      db.updateTable('company_clocks').set({ last_stamp_ms: lastStampMs }).where('company', '=', company),
    ),
    findNumber: engine.command((db, { company, number }) =>
      db
        .selectFrom('invoices')
        .select('id')
        .where('company', '=', company)
        .where(sql`body ->> 'number'`, '=', number)
        .where('status', '=', sql.lit('issued')),
    ),
    findQuoteGroup: engine.command((db, { company, quoteGroupId }) =>
      db
        .selectFrom('quotes')
        .select('id')
        .where('company', '=', company)
        .where('quote_group_id', '=', quoteGroupId)
        .where('status', '<>', sql.lit('revised')),
    ),
  };
}

function createLock(engine: Engine): MoveStore['lockCompany'] {
  const lock = engine.command((db, value: { company: string }) => {
    const clock = db
      .selectFrom('company_clocks')
      .select([
        'last_stamp_ms',
        (clocks) => clocks.selectFrom('served_clock').select('latest_ms').as('served_ms'),
      ])
      .where('company', '=', value.company);
    // The clock's row is the lock: PostgreSQL reads it anew after waiting for it, as it would not with a joined one.
    return engine.name === 'postgres' ? clock.forUpdate() : clock;
  });
  const digests = resources.map(renderingDigest);
  // A statement of its own, after the lock: a version that renders a company's records anew locks it, too. It takes 3 us.
  const find = engine.command((db, value: { company: string }) =>
    db
      .selectFrom('companies')
      .select([
        'time_zone',
        'currency',
        'number_formats',
        (companies) =>
          companies
            .selectFrom('record_contracts')
            .select(({ fn }) => fn.max<string | null>('contract_version').as('version'))
            .where('digest', 'not in', digests)
            .as('later_contract'),
      ])
      .where('id', '=', value.company),
  );
  return async (transaction, company) => {
    const [clock] = await lock(transaction, { company });
    const [settings] = clock ? await find(transaction, { company }) : [];
    if (!clock || !settings) return undefined;
    if (settings.later_contract !== null) throw isOfLaterContract(settings.later_contract);
    return {
      id: company,
      timeZone: settings.time_zone,
      currency: settings.currency,
      // Written by `setNumberFormat`.
      numberFormats: JSON.parse(settings.number_formats) as LockedCompany['numberFormats'],
      lastStampMs: Number(clock.last_stamp_ms),
      servedMs: Number(clock.served_ms),
    };
  };
}

function isOfLaterContract(version: string): Error {
  return unavailable({
    cause: new Error(
      `its records are of the contract ${version}, which this version of Fieldledger doesn't know; run a later one.`,
    ),
  });
}

function createNotes(engine: Engine): MoveStore['noteChange'] {
  const note = engine.command((db, value: ChangeNote) =>
    db
      .insertInto('applied_changes')
      .values({
        company: value.company,
        id: value.id,
        change: value.change,
        content_digest: value.contentDigest,
        applied_at: value.appliedAt,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('change'),
  );
  const find = engine.command((db, value: { company: string; id: string }) =>
    db
      .selectFrom('applied_changes')
      .select(['change', 'content_digest'])
      .where('company', '=', value.company)
      .where('id', '=', value.id),
  );
  return async (transaction, change) => {
    const [isNew] = await note(transaction, change);
    const [noted] = isNew ? [] : await find(transaction, change);
    return noted && { change: noted.change, contentDigest: noted.content_digest };
  };
}

/** Rows of one transaction. SQLite does nothing else meanwhile. */
const FORGOTTEN_AT_ONCE = 500;

/**
 * Forgets the ids of some changes that were made before a time. Those without a time, which an earlier version has made, get
 * the present one.
 * @returns whether there may be more.
 */
export async function forgetChanges(
  engine: Engine,
  { before, now }: { before: Date; now: Date },
): Promise<boolean> {
  const lock = engine.name === 'postgres' ? sql`FOR UPDATE SKIP LOCKED` : sql``;
  const some = (where: RawBuilder<boolean>) => sql`(company, id) IN (
    SELECT company, id FROM applied_changes WHERE ${where} LIMIT ${sql.lit(FORGOTTEN_AT_ONCE)} ${lock})`;
  const counts = await engine.transaction(async (transaction) => [
    await sql`UPDATE applied_changes SET applied_at = ${now.toISOString()} WHERE ${some(sql`applied_at IS NULL`)}`.execute(
      transaction,
    ),
    await sql`DELETE FROM applied_changes WHERE ${some(sql`applied_at < ${before.toISOString()}`)}`.execute(
      transaction,
    ),
  ]);
  return counts.some(({ numAffectedRows }) => Number(numAffectedRows) === FORGOTTEN_AT_ONCE);
}
