import { sql } from 'kysely';

import type { Resource } from '../../../contract/records.ts';
import { storedRecordProblem } from '../../../contract/render.ts';
import { hasDetail } from '../../../contract/records.ts';
import type { Connection } from '../dialects/dialect.ts';
import { type Check, tableCheck } from './findings.ts';

interface Row {
  company: string;
  id: string;
  body: string;
  detail?: string;
  digest: string | null;
}

/** Holds every record of a kind against the contract, and its digest against its text. */
export function recordsCheck(db: Connection, resource: Resource): Check {
  return tableCheck<Row>(db, resource, {
    id: 'id',
    columns: sql`company, id, body, digest${hasDetail(resource) ? sql`, detail` : sql``}`,
    from: sql.table(resource),
    key: ['company', 'id'],
    // Some megabytes at most: a record has one to two kilobytes.
    rowsMax: 500,
    problemsOf(row) {
      const problem = storedRecordProblem(resource, row);
      return problem === undefined ? [] : [problem];
    },
  });
}
