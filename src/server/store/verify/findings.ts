import { sql, type RawBuilder } from 'kysely';

import type { Engine } from '../engines/engine.ts';

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

/** Reads the next rows of a table, of which each has a key; `key` is undefined for the first ones. */
type ReadPage<Row> = (after: readonly string[]) => Promise<Row[]>;

/** Goes through a table in the order of its keys, some rows at a time; others write meanwhile. */
export async function* lookThrough<Row>(
  read: ReadPage<Row>,
  keyOf: (row: Row) => string[],
  problemsOf: (row: Row) => Finding[] | Promise<Finding[]>,
  keyLength: number,
): AsyncGenerator<Looked> {
  let after: string[] = Array.from({ length: keyLength }, () => '');
  for (;;) {
    const rows = await read(after);
    const last = rows.at(-1);
    if (last === undefined) return;
    const findings: Finding[] = [];
    for (const row of rows) findings.push(...(await problemsOf(row)));
    yield { rowCount: rows.length, findings };
    after = keyOf(last);
  }
}

/** Counts the rows of a table. */
export function countRows({ db }: Engine, table: RawBuilder<unknown>): () => Promise<number> {
  return async () => {
    const { rows } = await sql<{ count: number | string }>`SELECT count(*) AS count FROM ${table}`.execute(
      db,
    );
    return Number(rows[0]?.count ?? 0);
  };
}
