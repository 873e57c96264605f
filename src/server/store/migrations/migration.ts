import { sql } from 'kysely';

import type { Engine, StoreTransaction } from '../engines/engine.ts';

/** The differences between the engines in the text of a migration. */
export interface Dialect {
  name: Engine['dialect']['name'];
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

/** Any number does, as long as no other program locks the same one in this database. */
const POSTGRES_LOCK = 4_706_174;

/** Makes this transaction the only one that changes the schema, or begins to render records anew, until it ends. */
export async function lockSchema(engine: Engine, transaction: StoreTransaction): Promise<void> {
  if (engine.dialect.name === 'sqlite') return;
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(POSTGRES_LOCK)})`.execute(transaction);
}

/** Follows a table of small rows that are found by their key alone: in SQLite the key's tree is all they need. */
export function keyedTable({ name, table }: Dialect): string {
  return name === 'sqlite' ? `${table}, WITHOUT ROWID` : table;
}
