/**
 * Stored records were rendered by the contract of their time. For each resource, the database keeps a digest of the
 * rendering rules and the contract's version. If the digest differs from this program's, all the resource's records are
 * rendered again.
 *
 * The digest is changed before the first record. From then on an earlier version of the program is refused, at its start or,
 * if it is already running, at its next move, so that it can't store records by the old contract. Batches take turns:
 * each locks the row with the progress, so any number of processes may render at once. Each continues where the previous
 * one ended, even if that was killed.
 */
import { sql } from 'kysely';

import { contractVersion } from '../../../contract/document.ts';
import { type Resource, resources } from '../../../contract/records.ts';
import { renderingDigest } from '../../../contract/rendering.ts';
import { UsageError } from '../../../errors.ts';
import { countRows } from '../batches.ts';
import type { Engine } from '../engines/engine.ts';
import type { Tables } from '../tables/tables.ts';

export interface Outdated {
  resource: Resource;
  /** Number of records that are still to be rendered again. */
  records: number;
  hasBegun: boolean;
}

/** The state of a resource's rendering: the contract that its records follow, and the last finished record. */
type Rendering = Tables['record_contracts'];

export interface Place {
  company: string;
  id: string;
}

/** The place where a rendering starts, before the first record. */
export const START: Place = { company: '', id: '' };

/**
 * Returns the resources of which this contract hasn't rendered all records.
 * @param hasContracts whether the database already has the table of contracts.
 * @throws UsageError when a later contract has rendered some of the records.
 */
export async function findOutdated(engine: Engine, hasContracts: boolean): Promise<Outdated[]> {
  const rows = hasContracts ? await engine.db.selectFrom('record_contracts').selectAll().execute() : [];
  refuseLater(rows);
  const found: Outdated[] = [];
  for (const resource of resources) {
    const begun = rows.find((row) => row.resource === resource && row.digest === renderingDigest(resource));
    const after = begun ? placeOf(begun) : START;
    if (after === undefined) continue;
    const hasBegun = begun !== undefined;
    const isLeft = sql<boolean>`(company, id) > (${after.company}, ${after.id})`;
    // A table that no contract has rendered is empty, or has yet to be created by a migration.
    const isKnown = rows.some((row) => row.resource === resource);
    const records = isKnown ? await countRows(engine.db, sql.table(resource), isLeft) : 0;
    found.push({ resource, hasBegun, records });
  }
  return found;
}

/**
 * Marks resources as rendered by this contract from now on. Another process may already have begun the same rendering.
 * @throws UsageError when a later contract has meanwhile rendered some of the records.
 */
export async function beginRendering(engine: Engine, outdated: readonly Outdated[]): Promise<void> {
  await engine.transaction(async (transaction) => {
    await engine.dialect.administration.lockSchema(transaction);
    const rows = await transaction.selectFrom('record_contracts').selectAll().execute();
    refuseLater(rows);
    for (const { resource } of outdated) {
      const digest = renderingDigest(resource);
      if (rows.some((row) => row.resource === resource && row.digest === digest)) continue;
      const rendering = {
        contract_version: contractVersion(),
        digest,
        rendered_company: START.company,
        rendered_id: START.id,
      };
      await transaction
        .insertInto('record_contracts')
        .values({ resource, ...rendering })
        .onConflict((conflict) => conflict.column('resource').doUpdateSet(rendering))
        .execute();
    }
  });
}

/** Returns the position of the last finished record; undefined when all are finished. */
export function placeOf(row: Rendering): Place | undefined {
  if (row.rendered_company === null || row.rendered_id === null) return undefined;
  return { company: row.rendered_company, id: row.rendered_id };
}

/** Refuses records that a later contract has rendered. @throws UsageError. */
export function refuseLater(rows: readonly Rendering[], subject = 'The database'): void {
  const later = rows.find(
    ({ resource, contract_version: version, digest }) =>
      isLater(version, contractVersion()) && digest !== renderingDigest(resource as Resource),
  );
  if (later) throw renderedByOtherVersionError(later, subject);
}

/** Returns the error for records that another version renders or has rendered. */
export function renderedByOtherVersionError(
  { contract_version: version }: Rendering,
  subject = 'The database',
): UsageError {
  return new UsageError(
    `${subject} has records of the contract ${version}, and this version of Fieldledger has the contract ${contractVersion()}; run a later one, or go back to a backup.`,
  );
}

/** Whether a version such as `1.10.0` is later than another. */
function isLater(version: string, than: string): boolean {
  const numbers = (text: string) => text.split('.').map(Number);
  const others = numbers(than);
  const differs = numbers(version).map((number, index) => number - (others[index] ?? 0));
  return (differs.find((difference) => difference !== 0) ?? 0) > 0;
}
