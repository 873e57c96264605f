import { integer, orNull, defineTable, text } from './table.ts';

/** The generation of the store, in one row, or none until it is served: see ../records/generation.ts. */
export const storeGeneration = defineTable({
  name: 'store_generation',
  columns: { only_row: integer, generation: text },
  key: ['only_row'],
  constraints: ['CHECK (only_row = 1)'],
  isOfDatabase: true,
});

/**
 * By which contract the records of each resource are rendered (../migrations/render-anew.ts). While they are being rendered
 * anew, `rendered_company` and `rendered_id` name the last record that is done; both are empty before the first, and null when
 * all are.
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
