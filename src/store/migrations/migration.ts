import type { Engine } from '../engines/engine.ts';

/** The differences between the engines in the text of a migration. */
export interface Dialect {
  name: Engine['name'];
  /** Type of a text column that compares byte by byte. */
  text: string;
  /** Type of a column that keeps JSON text exactly as written. */
  json: string;
  /** The text after a table's closing parenthesis. */
  table: string;
}

/** A numbered step of the schema. Once released it is never edited; a later step changes what it made. */
export interface Migration {
  name: string;
  statements: (dialect: Dialect) => string[];
}

/** Follows a table of small rows that are found by their key alone: in SQLite the key's tree is all they need. */
export function keyedTable({ name, table }: Dialect): string {
  return name === 'sqlite' ? `${table}, WITHOUT ROWID` : table;
}
