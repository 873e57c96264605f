import type { EngineName } from '../tables/table.ts';

/** A numbered step of the schema. Once released it is never edited; a later step changes what it made. */
export interface Migration {
  name: string;
  statements: (engine: EngineName) => string[];
}
