import { type RawBuilder, type Selectable, sql } from 'kysely';

import { resources } from '../../../contract/records.ts';
import { renderingDigest } from '../../../contract/rendering.ts';
import { unavailable } from '../../../errors.ts';
import { hasRow } from '../batches.ts';
import type { Connection } from '../dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import { type CompanyClock, lockCompany } from './companies.ts';
import type { IssuedDocumentKind } from '../tables/companies.ts';
import { isNumberedWith, type Numbered } from './number-series.ts';
import type { Tables } from '../tables/tables.ts';
import { companies } from '../tables/companies.ts';
import { appliedChanges } from '../tables/feed.ts';
import { readRow, type RowOf, writeRow } from '../tables/table.ts';

/** The company settings that every move needs. */
export interface LockedCompany extends CompanyClock {
  id: string;
  timeZone: string;
  currency: string;
  /** Custom number formats by kind of document; a kind that is absent uses the default. */
  numberFormats: Partial<Record<string, string>>;
  /** The kinds of document that the business system issues. */
  issuedElsewhere: readonly IssuedDocumentKind[];
  /** Whether documents go to the operator's access point when they are issued. */
  handOver: boolean;
  /** Whether the change's feed token is still valid; true for a change without a token. */
  isTokenLive: boolean;
  /** The change that was applied earlier under the same id; undefined if there is none. */
  earlier: NotedChange | undefined;
}

/** An applied change: its name, the digest of its content, and the affected record if known. */
export type NotedChange = Omit<RowOf<typeof appliedChanges>, 'company' | 'id'>;

/**
 * Locks a company for moves until the transaction ends, and returns the settings that moves need. Returns undefined when
 * there is no such company.
 * @param change the change's id and its feed token, which may have been revoked meanwhile.
 * @throws AppError `unavailable` after a later version has begun to re-render records by its newer contract.
 */
export async function lockForMoves(
  transaction: StoreTransaction,
  company: string,
  { id = null, token = null }: { id?: string | null | undefined; token?: string | null } = {},
): Promise<LockedCompany | undefined> {
  const clock = await lockCompany(transaction, company);
  if (!clock) return undefined;
  // A separate statement after the lock, because re-rendering a company's records takes the lock too. It takes 3 us.
  const settings = await transaction
    .selectFrom('companies')
    .leftJoin('applied_changes', (join) =>
      // No change has an empty id. Citus can't plan a join with null.
      join.on('applied_changes.company', '=', company).on('applied_changes.id', '=', id ?? ''),
    )
    .select([
      'time_zone',
      'currency',
      'number_formats',
      'issued_elsewhere',
      'hand_over',
      ...NOTED,
      (companies) =>
        companies
          .selectFrom('record_contracts')
          .select(({ fn }) => fn.max<string | null>('contract_version').as('version'))
          .where('digest', 'not in', digests)
          .as('later_contract'),
      (companies) =>
        companies
          .selectFrom('feed_tokens')
          .select('feed_tokens.id')
          .where('feed_tokens.id', '=', token)
          .where('revoked_at', 'is', null)
          .as('live_token'),
    ])
    .where('companies.id', '=', company)
    .executeTakeFirst();
  if (!settings) return undefined;
  if (settings.later_contract !== null) throw isOfLaterContract(settings.later_contract);
  return {
    id: company,
    ...readRow(companies, settings),
    isTokenLive: settings.live_token === token,
    earlier: settings.change === null ? undefined : readRow(appliedChanges, settings as NotedRow),
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

/** Stores a company's latest time stamp, from which its next move continues. */
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

/** Stores that a feed change was applied. */
export async function noteChange(
  transaction: StoreTransaction,
  noted: RowOf<typeof appliedChanges>,
): Promise<void> {
  await transaction.insertInto('applied_changes').values(writeRow(appliedChanges, noted)).execute();
}

/** Returns an applied change by id; undefined if there is none, or it was removed because of its age. */
export async function findChange(
  db: Connection,
  company: string,
  id: string,
): Promise<NotedChange | undefined> {
  const row = await db
    .selectFrom('applied_changes')
    .select(NOTED)
    .where((row) => row.and({ company, id }))
    .executeTakeFirst();
  return row && readRow(appliedChanges, row);
}

/** Returns a company's applied changes, latest first, optionally only those of one token or one record. */
export async function listChanges(
  { db }: Engine,
  company: string,
  { token, record, limit }: { token?: string | undefined; record?: string | undefined; limit: number },
): Promise<(NotedChange & { id: string })[]> {
  const rows = await db
    .selectFrom('applied_changes')
    .select(['id', ...NOTED])
    .where('company', '=', company)
    .$if(token !== undefined, (query) => query.where('token', '=', token ?? ''))
    .$if(record !== undefined, (query) => query.where('record_id', '=', record ?? ''))
    .orderBy('applied_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map((row) => readRow(appliedChanges, row));
}

const NOTED = ['change', 'content_digest', 'resource', 'record_id', 'applied_at', 'token'] as const;

type NotedRow = Pick<Selectable<Tables['applied_changes']>, (typeof NOTED)[number]>;

/** The last change from a source that was applied to a company. */
export interface FeedPosition {
  sequence: number;
  id: string | null;
  appliedAt: string;
}

export async function findPosition(
  { db }: Engine,
  company: string,
  source: string,
): Promise<FeedPosition | undefined> {
  const row = await db
    .selectFrom('feed_positions')
    .select(['sequence', 'change_id', 'applied_at'])
    .where((row) => row.and({ company, source }))
    .executeTakeFirst();
  return row && { sequence: Number(row.sequence), id: row.change_id, appliedAt: row.applied_at };
}

/**
 * Advances a source's position to a change.
 * @returns whether the change comes after the last one; otherwise nothing is written.
 */
export async function movePosition(
  transaction: StoreTransaction,
  { company, source }: { company: string; source: string },
  { sequence, id, appliedAt }: FeedPosition,
): Promise<boolean> {
  const position = { sequence, change_id: id, applied_at: appliedAt };
  const moved = await transaction
    .insertInto('feed_positions')
    .values({ company, source, ...position })
    .onConflict((conflict) =>
      conflict
        .columns(['company', 'source'])
        .doUpdateSet(position)
        .where('feed_positions.sequence', '<', sequence),
    )
    .executeTakeFirst();
  return Number(moved.numInsertedOrUpdatedRows) === 1;
}

/** Whether the company has an issued document of a kind with this number. */
export async function hasNumber(
  transaction: StoreTransaction,
  company: string,
  number: string,
  kind: string,
): Promise<boolean> {
  return hasIssued(transaction, company, sql<boolean>`body ->> 'number' = ${number} AND kind = ${kind}`);
}

/** Whether a document already has this number in the series that numbers these kinds. */
export async function hasSeriesNumber(
  transaction: StoreTransaction,
  company: string,
  number: string,
  kinds: readonly Numbered[],
): Promise<boolean> {
  const isIn = sql<boolean>`body ->> 'number' = ${number} AND ${isNumberedWith(kinds)}`;
  return hasIssued(transaction, company, isIn);
}

async function hasIssued(transaction: StoreTransaction, company: string, is: RawBuilder<boolean>) {
  return hasRow(transaction, sql`invoices`, sql`company = ${company} AND status = 'issued' AND ${is}`);
}

/** Whether any version of a quote of the company has this number. */
export async function hasQuoteNumber(
  transaction: StoreTransaction,
  company: string,
  number: string,
): Promise<boolean> {
  return hasRow(transaction, sql`quotes`, sql`company = ${company} AND body ->> 'number' = ${number}`);
}

/** Whether the company has a quote in this group, in any version. */
export async function hasQuoteGroup(
  transaction: StoreTransaction,
  company: string,
  quoteGroupId: string,
): Promise<boolean> {
  // Each quote always has one version that isn't revised, and an index covers those.
  const where = sql<boolean>`company = ${company} AND quote_group_id = ${quoteGroupId} AND status <> 'revised'`;
  return hasRow(transaction, sql`quotes`, where);
}
