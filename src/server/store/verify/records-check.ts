import { sql } from 'kysely';

import type { Resource } from '../../../contract/records.ts';
import { storedRecordProblem, joinRecordTexts } from '../../../contract/render.ts';
import { hasDetail, type Invoice } from '../../../contract/records.ts';
import type { Connection } from '../dialects/dialect.ts';
import { searchColumns } from '../search-columns.ts';
import { type Check, tableCheck } from './findings.ts';

interface Row {
  company: string;
  id: string;
  body: string;
  detail?: string;
  digest: string;
  /** The amount paid, in minor units, only for documents. PostgreSQL's driver returns large numbers as text. */
  paid_minor?: number | string;
  search_words?: string;
}

/** Returns the check of every record of a resource against the contract, and of its digest against its text. */
export function recordsCheck(db: Connection, resource: Resource): Check {
  return tableCheck<Row>(db, resource, {
    id: 'id',
    columns: sql`company, id, body, digest${hasDetail(resource) ? sql`, detail` : sql``}${
      resource === 'invoices' ? sql`, paid_minor, search_words` : sql``
    }`,
    from: sql.table(resource),
    key: ['company', 'id'],
    // A megabyte at most: a record has one to two kilobytes.
    rowsMax: 500,
    problemsOf(row) {
      const problem = storedRecordProblem(resource, row);
      return problem === undefined ? searchProblems(resource, row) : [problem];
    },
  });
}

/** Returns the names of a document's wrong search columns, which the database doesn't compute from its text. */
function searchProblems(resource: Resource, row: Row): string[] {
  if (resource !== 'invoices') return [];
  const expected = searchColumns({ resource, record: JSON.parse(joinRecordTexts(row)) as Invoice });
  const names = ['paid_minor', 'search_words'] as const;
  return names
    .filter((name) => String(row[name]) !== String(expected[name]))
    .map((name) => `${name} is not that of the document`);
}
