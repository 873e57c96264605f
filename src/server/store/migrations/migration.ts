import type { EngineName } from '../tables/table.ts';

/** A numbered step that brings an older database to today's tables. It is never edited once it has been released. */
export interface Migration {
  name: string;
  statements: (engine: EngineName) => string[];
}
