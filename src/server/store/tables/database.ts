import { integer, orNull, defineTable, text } from './table.ts';

/** One row with the store's generation, or none before it is first served; see ../records/generation.ts. */
export const storeGeneration = defineTable({
  name: 'store_generation',
  columns: { only_row: integer, generation: text },
  key: ['only_row'],
  constraints: ['CHECK (only_row = 1)'],
  isOfDatabase: true,
});

/**
 * The contract by which each resource's records are rendered (../migrations/render-anew.ts). During re-rendering,
 * `rendered_company` and `rendered_id` name the last finished record. Both are empty before the first, and null when all are
 * finished.
 */
export const recordContracts = defineTable({
  name: 'record_contracts',
  columns: {
    resource: text,
    contract_version: text,
    digest: text,
    rendered_company: orNull(text),
    rendered_id: orNull(text),
  },
  key: ['resource'],
  constraints: ['CHECK ((rendered_company IS NULL) = (rendered_id IS NULL))'],
  isKeyed: true,
  isOfDatabase: true,
  isOnEachMachine: true,
});
