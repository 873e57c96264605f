import { sql } from 'kysely';

import { batchesOf, countRows, type Selection } from '../batches.ts';
import type { Connection } from '../dialects/dialect.ts';

/** A fault in a stored row, or in the database file. */
export interface Finding {
  /** The name of the table, or other part of the store, that has the fault. */
  in: string;
  company: string | null;
  id: string | null;
  problem: string;
}

/** The result of checking a batch: the number of rows, and the faults in them. */
export interface BatchResult {
  rowCount: number;
  findings: Finding[];
}

/** A check of one part of the store, which yields its findings batch by batch. */
export interface Check {
  /** The name of the part of the store that is checked, as in findings. */
  in: string;
  count: () => Promise<number>;
  looks: () => AsyncIterable<BatchResult>;
}

/** Returns a check that reads every row of a table. @param id the column by which findings identify a row. */
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
