import type { EngineName } from '../tables/table.ts';

/** A numbered schema change for older databases. It is never edited once it has been released. */
export interface Migration {
  name: string;
  statements: (engine: EngineName) => string[];
}
