import type { Migration } from './migration.ts';

/** The generation of the store, in one row. A store without one gets one when it is served; see ../records/generation.ts. */
export const storeGeneration: Migration = {
  name: '0014-store-generation',
  statements: ({ text, table }) => [
    `CREATE TABLE store_generation (
      only_row INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 1),
      generation ${text} NOT NULL
    ) ${table}`,
  ],
};
