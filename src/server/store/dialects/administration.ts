import type { Kysely } from 'kysely';

import type { EngineName } from '../tables/table.ts';
import type { Tables } from '../tables/tables.ts';

/** A table, index, trigger, view or similar object, with its definition. */
export interface SchemaObject {
  type: string;
  name: string;
  definition: string | null;
}

/** Runs an SQL text unchanged, on a connection that can write, and returns the rows. */
type Run = (sql: string) => Promise<Record<string, unknown>[]>;

/** The operations for migrations, checks and erasures that each engine, SQLite or PostgreSQL, does in its own way. */
export interface Administration {
  readonly engine: EngineName;
  /** Locks the schema and the rendering of records until the transaction ends. */
  readonly lockSchema: (transaction: Kysely<Tables>) => Promise<void>;
  /** SQL that tells whether the table `migrations` exists (`has_migrations`), and names any one other table (`other`). */
  readonly presentTables: string;
  readonly schemaObjects: string;
  /** Returns the schema objects that exist once the migrations' statements have run. */
  readonly objectsMadeBy: (statements: readonly string[]) => SchemaObject[];
  /** Returns the faults of the database file; none on PostgreSQL. */
  readonly fileProblems: (run: Run) => Promise<string[]>;
  /** Prepares the database for the erasure of a company. @throws UsageError when this process isn't allowed to erase one. */
  readonly prepareErasure: (run: Run) => Promise<void>;
  /** Stops other transactions from adding rows to a company that is being erased. */
  readonly endCompany: (transaction: Kysely<Tables>, company: string) => Promise<void>;
  /** Whether the database file can still contain rows that were deleted. */
  readonly leavesTraces: boolean;
  /** Removes the traces of deleted rows from the file. @throws UsageError when it can't. */
  readonly removeTraces: (run: Run) => Promise<void>;
}
