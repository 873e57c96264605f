/**
 * Stored records were rendered by the contract of their day. The database keeps the digest of what rendered each resource,
 * and the version of that contract. Where the digest is another than this program's, all records of the resource are
 * rendered anew.
 *
 * The digest is changed before the first record is. From then on an earlier version of the program is refused, at its start
 * and at the next move of one that runs, so that nothing is stored any more as it would store it. Batches take turns:
 * each locks the row that says how far they have come, so any number of processes may render at once, and each goes on
 * where the last one, which may have been killed, has ended.
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
  /** Records that are still to be rendered. */
  records: number;
  hasBegun: boolean;
}

/** The contract that renders a resource's records, and how far that has come. */
type Rendering = Tables['record_contracts'];

export interface Place {
  company: string;
  id: string;
}

/** The place before the first record. */
export const START: Place = { company: '', id: '' };

/**
 * The resources whose records aren't of this contract.
 * @param hasContracts whether the database has the table of contracts already.
 * @throws UsageError when a later contract has rendered some.
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
    // A table that no contract has rendered is empty, or a migration that is still to come makes it.
    const isKnown = rows.some((row) => row.resource === resource);
    const records = isKnown ? await countRows(engine.db, sql.table(resource), isLeft) : 0;
    found.push({ resource, hasBegun, records });
  }
  return found;
}

/**
 * Says that this contract renders the resources from now on. Another process that has begun the same goes on.
 * @throws UsageError when a later contract has rendered some meanwhile.
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

/** After the last record that is done; undefined when all are. */
export function placeOf(row: Rendering): Place | undefined {
  if (row.rendered_company === null || row.rendered_id === null) return undefined;
  return { company: row.rendered_company, id: row.rendered_id };
}

/** @throws UsageError when a later contract has rendered records of the subject. */
export function refuseLater(rows: readonly Rendering[], subject = 'The database'): void {
  const later = rows.find(
    ({ resource, contract_version: version, digest }) =>
      isLater(version, contractVersion()) && digest !== renderingDigest(resource as Resource),
  );
  if (later) throw isRendered(later, subject);
}

/** The refusal of records that another version renders, or has rendered. */
export function isRendered({ contract_version: version }: Rendering, subject = 'The database'): UsageError {
  return new UsageError(
    `${subject} has records of the contract ${version}, and this version of Fieldledger has the contract ${contractVersion()}; run a later one, or go back to a backup.`,
  );
}

/** Whether a version like `1.10.0` comes after another. */
function isLater(version: string, than: string): boolean {
  const numbers = (text: string) => text.split('.').map(Number);
  const others = numbers(than);
  const differs = numbers(version).map((number, index) => number - (others[index] ?? 0));
  return (differs.find((difference) => difference !== 0) ?? 0) > 0;
}
