import { sql } from 'kysely';

import type { Resource } from '../../../contract/records.ts';
import { storedRecordProblem } from '../../../contract/render.ts';
import { hasDetail } from '../../../contract/rendering.ts';
import type { Engine } from '../engines/engine.ts';
import { type Check, countRows, lookThrough } from './findings.ts';

/** Some megabytes at most: a record has one to two kilobytes. */
const ROWS_AT_ONCE = 500;

interface Row {
  company: string;
  id: string;
  body: string;
  detail?: string;
  digest: string | null;
}

/** Holds every record of a kind against the contract, and its digest against its text. */
export function recordsCheck(engine: Engine, resource: Resource): Check {
  const table = sql.table(resource);
  const detail = hasDetail(resource) ? sql`, detail` : sql``;
  const read = async ([company, id]: readonly string[]) => {
    const { rows } = await sql<Row>`
      SELECT company, id, body, digest${detail} FROM ${table}
      WHERE (company, id) > (${company}, ${id}) ORDER BY company, id LIMIT ${sql.lit(ROWS_AT_ONCE)}`.execute(
      engine.db,
    );
    return rows;
  };
  return {
    in: resource,
    count: countRows(engine, table),
    looks: () =>
      lookThrough(
        read,
        ({ company, id }) => [company, id],
        ({ company, id, ...stored }) => {
          const problem = storedRecordProblem(resource, stored);
          return problem === undefined ? [] : [{ in: resource, company, id, problem }];
        },
        2,
      ),
  };
}
