import type { Kysely } from 'kysely';

import type { EngineName } from '../tables/table.ts';
import type { Tables } from '../tables/tables.ts';

/** A table, an index, a trigger, a view or the like, and what defines it. */
export interface SchemaObject {
  type: string;
  name: string;
  definition: string | null;
}

/** Runs a statement as it is, where writes are made. */
type Run = (sql: string) => Promise<Record<string, unknown>[]>;

/** How SQLite and PostgreSQL differ in migrations, checks and erasures. */
export interface Administration {
  readonly engine: EngineName;
  /** Locks the schema and the rendering of records until the transaction ends. */
  readonly lockSchema: (transaction: Kysely<Tables>) => Promise<void>;
  /** Selects whether there is a table `migrations` (`has_migrations`), and the name of another table (`other`). */
  readonly presentTables: string;
  readonly schemaObjects: string;
  /** The objects of the schema that statements of migrations make. */
  readonly objectsMadeBy: (statements: readonly string[]) => SchemaObject[];
  /** The fault of the database's file, where the database is a file. */
  readonly fileProblems: (run: Run) => Promise<string[]>;
  /** @throws UsageError when this process may not erase a company. */
  readonly prepareErasure: (run: Run) => Promise<void>;
  /** Keeps others from adding rows to a company that is being erased, and removes rows that no other table refers to. */
  readonly endCompany: (transaction: Kysely<Tables>, company: string) => Promise<void>;
  /** Whether removed rows can still be read in the file. */
  readonly leavesTraces: boolean;
  /** Removes such traces. @throws UsageError when it can't. */
  readonly removeTraces: (run: Run) => Promise<void>;
}
