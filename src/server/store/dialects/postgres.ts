import { sql } from 'kysely';

import { DELIVERY_CHANNEL, type Dialect } from './dialect.ts';
import { postgresAdministration } from './postgres-administration.ts';
import { searchable } from '../tables/records.ts';

export const postgresDialect: Dialect = {
  name: 'postgres',
  administration: postgresAdministration,
  isShared: true,
  isDistributed: false,
  forUpdate: sql`FOR UPDATE`,
  forUpdateSkipLocked: sql`FOR UPDATE SKIP LOCKED`,
  forKeyShare: sql`FOR KEY SHARE`,
  indexedBy: () => sql``,
  sortedMax: 40_000,
  slice: undefined,
  mergedPart: (selection, inOrder) => sql`(${selection} ${inOrder})`,
  hasLateral: true,
  // The planner expects 10 elements from an array but 100 from a JSON array, and for 100 it would scan a table of a few
  // thousand deliveries.
  chosenIn: (text) =>
    sql`unnest(ARRAY(SELECT jsonb_array_elements(CAST(${text} AS JSONB)))) AS chosen (value)`,
  lowered: (text) => sql.raw(searchable('postgres', text)),
  position: (column, text) => sql`strpos(${sql.ref(column)}, ${text})`,
  // The driver would receive bytea in hexadecimal, which takes Node three times as long to read.
  selectBytes: (column) => sql<string>`encode(${sql.ref(column)}, 'base64')`,
  async tellWorkers(transaction) {
    await sql`NOTIFY ${sql.raw(DELIVERY_CHANNEL)}`.execute(transaction);
  },
};
