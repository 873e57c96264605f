import { sql } from 'kysely';

import type { Engine } from '../engines/engine.ts';
import { type Check, countRows, type Finding, type Looked, lookThrough } from './findings.ts';
import { createRuns, readNumber, type Series } from './number-runs.ts';

const ROWS_AT_ONCE = sql.lit(1_000);

/**
 * Whether the documents of each series have its numbers without gap or twin, up to the last one that was given out. A series
 * may begin with any number, and goes on from there: where an operator has set it forward since, that shows as a gap.
 */
export function numbersCheck(engine: Engine): Check {
  return {
    in: 'numbers',
    count: countRows(engine, sql`invoices WHERE status = 'issued'`),
    looks: () => lookAtAll(engine),
  };
}

async function* lookAtAll(engine: Engine): AsyncGenerator<Looked> {
  let last = '';
  for (;;) {
    const companies = await engine.db
      .selectFrom('companies')
      .select('id')
      .where('id', '>', last)
      .orderBy('id')
      .limit(1_000)
      .execute();
    for (const { id } of companies) yield* lookAtCompany(engine, id);
    const end = companies.at(-1);
    if (!end) return;
    last = end.id;
  }
}

/** Numbers go on being given out meanwhile, so a gap is one in those that had been before. */
async function* lookAtCompany(engine: Engine, company: string): AsyncGenerator<Looked> {
  const finding = (id: string, problem: string): Finding => ({ in: 'numbers', company, id, problem });
  const before = await seriesOf(engine, company);
  const runs = createRuns(before);
  const read = async ([number]: readonly string[]) => {
    const { rows } = await sql<{ number: string }>`
      SELECT body ->> 'number' AS number FROM invoices
      WHERE company = ${company} AND status = 'issued' AND body ->> 'number' > ${number}
      ORDER BY body ->> 'number' LIMIT ${ROWS_AT_ONCE}`.execute(engine.db);
    return rows;
  };
  const problemsOf = async ({ number }: { number: string }): Promise<Finding[]> => {
    if (readNumber(before, number)) return runs.add(number).map((problem) => finding(number, problem));
    const now = await seriesOf(engine, company);
    return readNumber(now, number) ? [] : [finding(number, 'no series has given out this number')];
  };
  yield* lookThrough(read, ({ number }) => [number], problemsOf, 1);
  yield { rowCount: 0, findings: runs.end().map(([series, problem]) => finding(series, problem)) };
}

async function seriesOf(engine: Engine, company: string): Promise<Series[]> {
  const rows = await engine.db
    .selectFrom('number_series')
    .select(['series', 'last_number'])
    .where('company', '=', company)
    .execute();
  return rows.map(({ series, last_number: last }) => ({ series, last }));
}
