import { sql } from 'kysely';

import { resources } from '../../../contract/records.ts';
import { renderingDigest } from '../../../contract/rendering.ts';
import { unavailable } from '../../../errors.ts';
import { hasRow } from '../batches.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import { type CompanyClock, lockCompany } from './companies.ts';
import { deleteSome } from '../stored-tables.ts';

/** The facts of a company that every move needs. */
export interface LockedCompany extends CompanyClock {
  id: string;
  timeZone: string;
  currency: string;
  /** By kind of document; a kind that isn't there is numbered as usual. */
  numberFormats: Partial<Record<string, string>>;
}

/** A change that was made: its name, and the digest of what it said; null of one that was made by an earlier version. */
export interface NotedChange {
  change: string;
  contentDigest: string;
}

/**
 * Makes this transaction the only one that moves the company until it ends: a company's changes are serial. Undefined when
 * there is no such company.
 * @throws AppError `unavailable` once a later version renders records anew: this one would store them by its own contract.
 */
export async function lockForMoves(
  transaction: StoreTransaction,
  company: string,
): Promise<LockedCompany | undefined> {
  const clock = await lockCompany(transaction, company);
  if (!clock) return undefined;
  // A statement of its own, after the lock: a version that renders a company's records anew locks it, too. It takes 3 us.
  const settings = await transaction
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
    .where('id', '=', company)
    .executeTakeFirst();
  if (!settings) return undefined;
  if (settings.later_contract !== null) throw isOfLaterContract(settings.later_contract);
  return {
    id: company,
    timeZone: settings.time_zone,
    currency: settings.currency,
    // Written by `setNumberFormat`.
    numberFormats: JSON.parse(settings.number_formats) as LockedCompany['numberFormats'],
    ...clock,
  };
}

const digests = resources.map(renderingDigest);

function isOfLaterContract(version: string): Error {
  return unavailable({
    cause: new Error(
      `its records are of the contract ${version}, which this version of Fieldledger doesn't know; run a later one.`,
    ),
  });
}

/** Keeps the latest stamp, which the next move of the company goes on from. */
export async function setLastStamp(
  transaction: StoreTransaction,
  company: string,
  lastStampMs: number,
): Promise<void> {
  await transaction
    .updateTable('company_clocks')
    .set({ last_stamp_ms: lastStampMs })
    .where('company', '=', company)
    .execute();
}

/** Notes that a change of the feed is made, unless one with its id is noted already: then that one is returned. */
export async function noteChange(
  transaction: StoreTransaction,
  {
    company,
    id,
    change,
    contentDigest,
    appliedAt,
  }: NotedChange & { company: string; id: string; appliedAt: string },
): Promise<NotedChange | undefined> {
  const isNew = await transaction
    .insertInto('applied_changes')
    .values({ company, id, change, content_digest: contentDigest, applied_at: appliedAt })
    .onConflict((conflict) => conflict.doNothing())
    .returning('change')
    .executeTakeFirst();
  if (isNew) return undefined;
  const noted = await transaction
    .selectFrom('applied_changes')
    .select(['change', 'content_digest'])
    .where('company', '=', company)
    .where('id', '=', id)
    .executeTakeFirst();
  return noted && { change: noted.change, contentDigest: noted.content_digest };
}

export async function hasNumber(
  transaction: StoreTransaction,
  company: string,
  number: string,
): Promise<boolean> {
  const where = sql<boolean>`company = ${company} AND body ->> 'number' = ${number} AND status = 'issued'`;
  return hasRow(transaction, sql`invoices`, where);
}

/** Whether the company has a quote of that group, in whatever version. */
export async function hasQuoteGroup(
  transaction: StoreTransaction,
  company: string,
  quoteGroupId: string,
): Promise<boolean> {
  // A quote has always one version that isn't revised, and an index of those.
  const where = sql<boolean>`company = ${company} AND quote_group_id = ${quoteGroupId} AND status <> 'revised'`;
  return hasRow(transaction, sql`quotes`, where);
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
  const table = { name: 'applied_changes', key: ['company', 'id'] } as const;
  const [countMax, lock] = [FORGOTTEN_AT_ONCE, engine.dialect.forUpdateSkipLocked];
  const counts = await engine.transaction(async (transaction) => {
    const dated = await sql`
      UPDATE applied_changes SET applied_at = ${now.toISOString()} WHERE (company, id) IN (
        SELECT company, id FROM applied_changes WHERE applied_at IS NULL LIMIT ${sql.lit(countMax)} ${lock}
      )`.execute(transaction);
    const where = sql<boolean>`applied_at < ${before.toISOString()}`;
    return [Number(dated.numAffectedRows), await deleteSome(transaction, table, { where, countMax, lock })];
  });
  return counts.includes(FORGOTTEN_AT_ONCE);
}
