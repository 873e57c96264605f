import { sql } from 'kysely';

import { batchesOf, countRows, type Selection } from '../batches.ts';
import type { Connection } from '../dialects/dialect.ts';

/** Something that is wrong with a stored row, or with the file of the database. */
export interface Finding {
  /** The table, or what else it is about. */
  in: string;
  company: string | null;
  id: string | null;
  problem: string;
}

/** Some rows that were looked at, and what is wrong with them. */
export interface Looked {
  rowCount: number;
  findings: Finding[];
}

/** A part of the store: how many rows it will look at, and the looks at some of them at a time. */
export interface Check {
  /** The part of the store, as its findings name it. */
  in: string;
  count: () => Promise<number>;
  looks: () => AsyncIterable<Looked>;
}

/** Looks at every row of a table. @param id the column by which findings name a row. */
export function tableCheck<Row extends { company: string }>(
  db: Connection,
  table: string,
  { id, problemsOf, ...selection }: Selection & TableCheck<Row>,
): Check {
  return {
    in: table,
    count: () => countRows(db, sql.table(table)),
    async *looks() {
      for await (const rows of batchesOf<Row>(db, selection)) {
        const findings: Finding[] = [];
        for (const row of rows)
          for (const problem of await problemsOf(row))
            findings.push({ in: table, company: row.company, id: String(row[id]), problem });
        yield { rowCount: rows.length, findings };
      }
    },
  };
}

interface TableCheck<Row> {
  id: keyof Row;
  problemsOf: (row: Row) => string[] | Promise<string[]>;
}
