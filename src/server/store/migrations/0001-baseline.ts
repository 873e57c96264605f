import { createTableStatements } from '../tables/table.ts';
import { allTables } from '../tables/tables.ts';
import type { Migration } from './migration.ts';

/** The first migration: creates all tables as they are defined now. Later migrations change the tables of older databases. */
export const baseline: Migration = {
  name: '0001-baseline',
  statements: (engine) => allTables.flatMap((table) => createTableStatements(table, engine)),
};
