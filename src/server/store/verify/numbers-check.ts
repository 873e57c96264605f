import { sql } from 'kysely';

import { batchesOf, countRows } from '../batches.ts';
import type { Connection } from '../dialects/dialect.ts';
import { findNumbering, kindsIn, type Numbered } from '../records/number-series.ts';
import type { Check, Finding, BatchResult } from './findings.ts';
import { createRuns, readNumber, type Series } from './number-runs.ts';

const ROWS_AT_ONCE = 1_000;

/**
 * Returns the check that each series has no gaps or duplicates up to the last allocated number. A series may begin with any
 * number; if an operator has since moved it forward, that shows as a gap. A business system may allocate any numbers, which
 * the database keeps unique; imported documents of kinds that a series doesn't number don't fill its gaps.
 */
export function numbersCheck(db: Connection): Check {
  return {
    in: 'numbers',
    count: () => countRows(db, sql`invoices`, sql`status = 'issued'`),
    async *looks() {
      const companies = { columns: sql`id`, from: sql`companies`, key: ['id'], rowsMax: ROWS_AT_ONCE };
      for await (const rows of batchesOf<{ id: string }>(db, companies))
        for (const { id } of rows) yield* lookAtCompany(db, id);
    },
  };
}

interface NumberRow {
  number: string;
  kind: Numbered;
  imported: unknown;
}

/** Checks one company's numbers. Numbers may be allocated meanwhile, so only those allocated before can be gaps. */
async function* lookAtCompany(db: Connection, company: string): AsyncGenerator<BatchResult> {
  const finding = (id: string, problem: string): Finding => ({ in: 'numbers', company, id, problem });
  const before = await seriesOf(db, company);
  const { formats = {} } = (await findNumbering(db, company)) ?? {};
  const runs = createRuns(before);
  // Documents of a series may have been numbered by an earlier format than the current one.
  const issuedHere = new Set<string>();
  const numbers = {
    columns: sql`number, kind, imported`,
    from: sql`(
      SELECT body ->> 'number' AS number, kind, unpublished ->> 'isImported' AS imported
        FROM invoices WHERE company = ${company} AND status = 'issued'
    ) AS issued`,
    key: ['number', 'kind'],
    rowsMax: ROWS_AT_ONCE,
  };
  for await (const rows of batchesOf<NumberRow>(db, numbers)) {
    const findings: Finding[] = [];
    for (const { number, kind, imported } of rows) {
      const isImported = imported !== null;
      const read = readNumber(before, number);
      const ofSeries = `${read?.series} ${kind}`;
      if (!isImported) issuedHere.add(ofSeries);
      else if (!read || !(kindsIn(read.series, formats).includes(kind) || issuedHere.has(ofSeries))) continue;
      if (read) findings.push(...runs.add(number, isImported).map((problem) => finding(number, problem)));
      else if (!readNumber(await seriesOf(db, company), number))
        findings.push(finding(number, 'no series has given out this number'));
    }
    yield { rowCount: rows.length, findings };
  }
  yield { rowCount: 0, findings: runs.end().map(([series, problem]) => finding(series, problem)) };
}

async function seriesOf(db: Connection, company: string): Promise<Series[]> {
  const rows = await db
    .selectFrom('number_series')
    .select(['series', 'last_number'])
    .where('company', '=', company)
    .execute();
  return rows.map(({ series, last_number: last }) => ({ series, last }));
}
