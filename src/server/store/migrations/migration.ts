import type { EngineName, Table } from '../tables/table.ts';

/** A numbered schema change for older databases. It is never edited once it has been released. */
export interface Migration {
  name: string;
  /** Tables that it adds, or parts of them, which the baseline has in a newer database. */
  adds?: readonly Table[];
  statements: (engine: EngineName) => string[];
}
