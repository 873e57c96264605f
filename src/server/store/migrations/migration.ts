import type { EngineName } from '../tables/table.ts';

/** A numbered schema change that brings an older database up to date. It is never edited once it has been released. */
export interface Migration {
  name: string;
  statements: (engine: EngineName) => string[];
}
