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

/** The facts of a company that every move needs. */
export interface LockedCompany extends CompanyClock {
  id: string;
  timeZone: string;
  currency: string;
  /** By kind of document; a kind that isn't there is numbered as usual. */
  numberFormats: Partial<Record<string, string>>;
  /** The kinds of document that the business system issues. */
  issuedElsewhere: readonly IssuedDocumentKind[];
  /** Whether what it issues goes to the operator's access point. */
  handOver: boolean;
  /** Whether the feed token that brings the change works; true for a change that comes without one. */
  isTokenLive: boolean;
  /** The change with the same id that was applied before. */
  earlier: NotedChange | undefined;
}

/** A change that was made: its name, the digest of what it said, and the record that it was about, where that is known. */
export type NotedChange = Omit<RowOf<typeof appliedChanges>, 'company' | 'id'>;

/**
 * Makes this transaction the only one that moves the company until it ends: a company's changes are serial. Undefined when
 * there is no such company.
 * @param change its id, and the feed token that brings it, which may have been revoked meanwhile.
 * @throws AppError `unavailable` once a later version renders records anew: this one would store them by its own contract.
 */
export async function lockForMoves(
  transaction: StoreTransaction,
  company: string,
  { id = null, token = null }: { id?: string | null | undefined; token?: string | null } = {},
): Promise<LockedCompany | undefined> {
  const clock = await lockCompany(transaction, company);
  if (!clock) return undefined;
  // A statement of its own, after the lock: a version that renders a company's records anew locks it, too. It takes 3 us.
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

/** Notes that a change of the feed is made. */
export async function noteChange(
  transaction: StoreTransaction,
  noted: RowOf<typeof appliedChanges>,
): Promise<void> {
  await transaction.insertInto('applied_changes').values(writeRow(appliedChanges, noted)).execute();
}

/** The change with an id that was applied; undefined where there is none, or it is forgotten. */
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

/** Applied changes of a company that aren't forgotten, the latest first; those of one token or of one record, if given. */
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

/** The last change of a source that was applied for a company. */
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
 * Moves a source on to a change.
 * @returns whether the change is behind the last one; nothing is written otherwise.
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

/** Whether an issued document of that kind of the company has a number. */
export async function hasNumber(
  transaction: StoreTransaction,
  company: string,
  number: string,
  kind: string,
): Promise<boolean> {
  return hasIssued(transaction, company, sql<boolean>`body ->> 'number' = ${number} AND kind = ${kind}`);
}

/** Whether a document has a number of a series in which these kinds are numbered. */
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

/** Whether a quote of the company has a number, in whatever version. */
export async function hasQuoteNumber(
  transaction: StoreTransaction,
  company: string,
  number: string,
): Promise<boolean> {
  return hasRow(transaction, sql`quotes`, sql`company = ${company} AND body ->> 'number' = ${number}`);
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
