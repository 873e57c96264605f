import type { EngineName } from '../tables/table.ts';

/** A numbered step by which an older database gets the tables of now. Once released it is never edited. */
export interface Migration {
  name: string;
  statements: (engine: EngineName) => string[];
}
