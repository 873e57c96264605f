import type { MigrationDialect } from '../dialects/administration.ts';

export type Dialect = MigrationDialect;

/** A numbered step of the schema. Once released it is never edited; a later step changes what it made. */
export interface Migration {
  name: string;
  statements: (dialect: Dialect) => string[];
}

/** Follows a table of small rows that are found by their key alone: in SQLite the key's tree is all they need. */
export function keyedTable({ name, table }: Dialect): string {
  return name === 'sqlite' ? `${table}, WITHOUT ROWID` : table;
}
