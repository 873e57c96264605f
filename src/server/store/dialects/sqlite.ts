import { sql } from 'kysely';

import type { Dialect } from './dialect.ts';
import { sqliteAdministration } from './sqlite-administration.ts';
import { searchable } from '../tables/records.ts';

const nothing = sql``;

export const sqliteDialect: Dialect = {
  name: 'sqlite',
  administration: sqliteAdministration,
  isShared: false,
  isDistributed: false,
  forUpdate: nothing,
  forUpdateSkipLocked: nothing,
  forKeyShare: nothing,
  indexedBy: (index) => sql`INDEXED BY ${sql.id(index)}`,
  // Takes about 4 ms.
  sortedMax: 40_000,
  // Takes about 3 ms.
  slice: 20_000,
  mergedPart: (selection) => selection,
  hasLateral: false,
  chosenIn: (text) => sql`json_each(${text}) AS chosen`,
  lowered: (text) => sql.raw(searchable('sqlite', text)),
  position: (column, text) => sql`instr(${sql.ref(column)}, ${text})`,
  selectBytes: (column) => sql.ref<Buffer>(column),
  tellWorkers: async () => undefined,
};
