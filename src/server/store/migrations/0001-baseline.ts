import { statementsFor } from '../tables/table.ts';
import { allTables } from '../tables/tables.ts';
import type { Migration } from './migration.ts';

/** Makes all tables as they are defined now, in a new database. Those of release 1.0.0 began like it; later migrations change them. */
export const baseline: Migration = {
  name: '0001-baseline',
  statements: (engine) => allTables.flatMap((table) => statementsFor(table, engine)),
};
