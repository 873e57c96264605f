import { statementsFor } from '../tables/table.ts';
import { allTables } from '../tables/tables.ts';
import type { Migration } from './migration.ts';

/** The tables of release 1.0.0, with which the history of every database begins. */
export const baseline: Migration = {
  name: '0001-baseline',
  statements: (engine) => allTables.flatMap((table) => statementsFor(table, engine)),
};
