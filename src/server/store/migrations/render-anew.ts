import { setTimeout as pause } from 'node:timers/promises';

import { type Insertable, sql } from 'kysely';

import { contractVersion } from '../../../contract/document.ts';
import { hasDetail, type Resource } from '../../../contract/records.ts';
import { InvalidRecordError, type RenderedRecord, renderStored } from '../../../contract/render.ts';
import { renderingDigest } from '../../../contract/rendering.ts';
import { quote, UsageError } from '../../../errors.ts';
import { batchesOf, readBatch, type Selection } from '../batches.ts';
import { dialectOf } from '../dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import type { Tables } from '../tables/tables.ts';
import { searchColumns } from '../search-columns.ts';
import {
  beginRendering,
  renderedByOtherVersionError,
  type Outdated,
  type Place,
  placeOf,
} from './record-contracts.ts';

/** Maximum records per batch, during which SQLite blocks other writers for about 50 ms. */
const BATCH_RECORDS = 500;
/** Milliseconds between batches, longer than the 5 ms at which other processes retry SQLite's lock. */
const BATCH_PAUSE_MS = 10;
const SHOWN_PROBLEMS_MAX = 20;

/** A callback for the number of records that have been checked or rendered again so far. */
export type OnProgress = (step: 'checked' | 'rendered', done: number, total: number) => void;

/**
 * Checks that the records can be rendered, without storing them; skips resources whose re-rendering has already begun.
 * @throws UsageError naming records that this contract can't render.
 */
export async function checkRecords(
  engine: Engine,
  outdated: readonly Outdated[],
  onProgress: OnProgress,
): Promise<void> {
  const unchecked = outdated.filter(({ hasBegun, records }) => !hasBegun && records > 0);
  const tell = progressOf('checked', unchecked, onProgress);
  const shown: string[] = [];
  let problems = 0;
  for (const { resource } of unchecked) {
    for await (const rows of batchesOf<StoredRow>(engine.db, selectionOf(resource))) {
      const found = rows.flatMap((row) => problemOf(resource, row) ?? []);
      problems += found.length;
      shown.push(...found.slice(0, SHOWN_PROBLEMS_MAX - shown.length));
      tell(rows.length);
    }
  }
  if (problems === 0) return;
  const others = problems - shown.length;
  if (others > 0) shown.push(`and ${others.toLocaleString('en')} more`);
  throw new UsageError(
    `The contract ${contractVersion()} of this version of Fieldledger can't render ${problems.toLocaleString('en')} of the stored records, so nothing was changed; go on with the earlier version. They are: ${shown.join('; ')}.`,
  );
}

function problemOf(resource: Resource, row: StoredRow): string | undefined {
  try {
    renderStored(resource, row);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidRecordError) return `${error.message} (company ${quote(row.company)})`;
    throw error;
  }
}

/**
 * Re-renders the records of outdated resources, and stores those that change. Their `updatedAt` stays the same.
 * @returns the number of records that this process has stored.
 * @throws UsageError when another version has begun re-rendering too; records rendered before that stay as they are.
 */
export async function renderAnew(
  engine: Engine,
  outdated: readonly Outdated[],
  onProgress: OnProgress,
): Promise<number> {
  await beginRendering(engine, outdated);
  const tell = progressOf('rendered', outdated, onProgress);
  let stored = 0;
  for (const { resource } of outdated) {
    let sincePause = 0;
    for (;;) {
      const batch = await engine.transaction((transaction) => renderBatch(transaction, resource));
      if (batch === undefined) break;
      stored += batch.stored;
      sincePause += batch.records;
      tell(batch.records);
      if (sincePause < BATCH_RECORDS) continue;
      sincePause = 0;
      await pause(BATCH_PAUSE_MS);
    }
  }
  return stored;
}

/** Renders the next records of one company and stores those that change. @returns undefined when no company has any left. */
async function renderBatch(
  transaction: StoreTransaction,
  resource: Resource,
): Promise<{ records: number; stored: number } | undefined> {
  const row = await transaction
    .selectFrom('record_contracts')
    .selectAll()
    .where('resource', '=', resource)
    .modifyEnd(dialectOf(transaction).forUpdate)
    .executeTakeFirstOrThrow();
  if (row.digest !== renderingDigest(resource)) throw renderedByOtherVersionError(row);
  const after = placeOf(row);
  if (after === undefined) return undefined;
  const found = await lockNext(transaction, resource, after);
  const changed = (found ?? []).flatMap((stored) => {
    const rendered = renderLocked(resource, stored);
    const columns = Object.entries(columnsOf(rendered));
    // PostgreSQL's driver returns large numbers as text.
    const isSame = columns.every(([column, value]) => String(stored[column]) === String(value));
    return isSame ? [] : [{ company: stored.company, rendered }];
  });
  await storeRendered(transaction, resource, changed);
  const last = found && (found.at(-1) ?? after);
  await transaction
    .updateTable('record_contracts')
    .set({ rendered_company: last?.company ?? null, rendered_id: last?.id ?? null })
    .where('resource', '=', resource)
    .execute();
  return found && { records: found.length, stored: changed.length };
}

/**
 * Locks the company of the next record and returns its next records: none if a move has meanwhile removed them. Returns
 * undefined when no company has any left.
 */
async function lockNext(
  transaction: StoreTransaction,
  resource: Resource,
  after: Place,
): Promise<StoredRow[] | undefined> {
  const selection = { ...selectionOf(resource), after: { ...after } };
  const [next] = await readBatch<StoredRow>(transaction, { ...selection, rowsMax: 1 });
  if (!next) return undefined;
  const { company } = next;
  // Takes the lock that every move takes (../records/moves.ts).
  await transaction
    .selectFrom('company_clocks')
    .select('company')
    .where('company', '=', company)
    .modifyEnd(dialectOf(transaction).forUpdate)
    .execute();
  const columns =
    resource === 'invoices' ? sql`${selection.columns}, search_words, paid_minor` : selection.columns;
  return readBatch<StoredRow>(transaction, { ...selection, columns, where: sql`company = ${company}` });
}

/** Returns a record rendered anew. An earlier version may have stored an unrenderable one after the check of all records. */
function renderLocked(resource: Resource, stored: StoredRow): RenderedRecord {
  try {
    return renderStored(resource, stored);
  } catch (error) {
    if (!(error instanceof InvalidRecordError)) throw error;
    throw new UsageError(
      `The contract ${contractVersion()} can't render a record of the company ${quote(stored.company)} that was stored after all were checked: ${error.message}. The upgrade stops there, and needs a version that can.`,
    );
  }
}

async function storeRendered(
  transaction: StoreTransaction,
  resource: Resource,
  changed: readonly { company: string; rendered: RenderedRecord }[],
): Promise<void> {
  const [first] = changed;
  if (first === undefined) return;
  const rows = changed.map(({ company, rendered }) => ({ company, ...columnsOf(rendered) }));
  const names = Object.keys(columnsOf(first.rendered)) as 'body'[];
  await transaction
    // Invoices have the columns of all record tables.
    .insertInto(resource as 'invoices')
    .values(rows as unknown as Insertable<Tables['invoices']>[])
    .onConflict((conflict) =>
      conflict
        .columns(['company', 'id'])
        .doUpdateSet((row) => Object.fromEntries(names.map((name) => [name, row.ref(`excluded.${name}`)]))),
    )
    .execute();
}

/** Returns the columns of a rendered record, except those that the database computes. */
function columnsOf(rendered: RenderedRecord): Record<string, string | number> {
  const { body, detail, digest } = rendered;
  return { body, digest, ...(detail !== undefined && { detail }), ...searchColumns(rendered) };
}

interface StoredRow extends Place {
  body: string;
  detail?: string;
  digest: string;
  [searched: string]: unknown;
}

/** Returns the selection of a resource's records, ordered by company and id. */
function selectionOf(resource: Resource): Selection {
  return {
    columns: sql`company, id, body, digest${hasDetail(resource) ? sql`, detail` : sql``}`,
    from: sql.table(resource),
    key: ['company', 'id'],
    rowsMax: BATCH_RECORDS,
  };
}

function progressOf(step: Parameters<OnProgress>[0], outdated: readonly Outdated[], onProgress: OnProgress) {
  const total = outdated.reduce((sum, { records }) => sum + records, 0);
  let done = 0;
  if (total > 0) onProgress(step, done, total);
  return (records: number) => {
    done = Math.min(done + records, total);
    if (total > 0) onProgress(step, done, total);
  };
}
