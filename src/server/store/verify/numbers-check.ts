import { sql } from 'kysely';

import { batchesOf, countRows } from '../batches.ts';
import type { Connection } from '../dialects/dialect.ts';
import { findNumbering, kindsIn, type Numbered } from '../records/number-series.ts';
import type { Check, Finding, Looked } from './findings.ts';
import { createRuns, readNumber, type Series } from './number-runs.ts';

const ROWS_AT_ONCE = 1_000;

/**
 * Whether the documents of each series have its numbers without gap or twin, up to the last one that was given out. A series
 * may begin with any number, and goes on from there: where an operator has set it forward since, that shows as a gap.
 * Numbers that a business system has given out may be any, and the database sees that none has a twin; those of kinds that
 * aren't numbered in a series leave gaps in it.
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

/** Numbers go on being given out meanwhile, so a gap is one in those that had been before. */
async function* lookAtCompany(db: Connection, company: string): AsyncGenerator<Looked> {
  const finding = (id: string, problem: string): Finding => ({ in: 'numbers', company, id, problem });
  const before = await seriesOf(db, company);
  const { formats = {} } = (await findNumbering(db, company)) ?? {};
  const runs = createRuns(before);
  // A series may have been numbered by another format than the present one.
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
