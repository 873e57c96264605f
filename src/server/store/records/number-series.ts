import { sql } from 'kysely';

import { lockCompany } from './companies.ts';
import type { Connection } from '../dialects/dialect.ts';
import type { StoreTransaction } from '../engines/engine.ts';

/**
 * Takes the next number of a series, from 1. The number is used only when the transaction commits.
 * @param after a number behind which it goes on, where the series hasn't come so far.
 */
export async function takeNumber(
  transaction: StoreTransaction,
  company: string,
  series: string,
  after = 0,
): Promise<number> {
  const next = sql<number>`CASE WHEN number_series.last_number < ${after} THEN ${after} ELSE number_series.last_number END + 1`;
  const row = await transaction
    .insertInto('number_series')
    .values({ company, series, last_number: after + 1 })
    .onConflict((conflict) => conflict.columns(['company', 'series']).doUpdateSet({ last_number: next }))
    .returning('last_number')
    .executeTakeFirstOrThrow();
  return row.last_number;
}

/** The numbering of a company's documents: formats by kind, and the last number of each series. */
export interface Numbering {
  formats: Record<string, string>;
  lastNumbers: Record<string, number>;
}

/** Reads a company's numbering; undefined when there is no such company. */
export async function findNumbering(db: Connection, company: string): Promise<Numbering | undefined> {
  const row = await db
    .selectFrom('companies')
    .select('number_formats')
    .where('id', '=', company)
    .executeTakeFirst();
  if (!row) return undefined;
  const series = await db
    .selectFrom('number_series')
    .select(['series', 'last_number'])
    .where('company', '=', company)
    .orderBy('series')
    .execute();
  return {
    // Written by `changeNumbering`.
    formats: JSON.parse(row.number_formats) as Numbering['formats'],
    lastNumbers: Object.fromEntries(series.map(({ series: name, last_number }) => [name, last_number])),
  };
}

/** The highest number that a document has, of those with these texts before and after the digits; 0 where there is none. */
export type FindHighest = (before: string, after: string) => Promise<number>;

/** No number has more digits. */
const DIGITS_MAX = 9;

/** As {@link FindHighest}, of a company. */
export async function highestNumber(
  transaction: StoreTransaction,
  company: string,
  [before, after]: Parameters<FindHighest>,
): Promise<number> {
  const around = sql.lit(before.length + after.length);
  const { rows } = await sql<{ highest: number | string | null }>`
    SELECT MAX(CAST(digits AS BIGINT)) AS highest FROM (
      SELECT number, CASE WHEN length(number) > ${around}
        THEN substr(number, ${sql.lit(before.length + 1)}, length(number) - ${around}) END AS digits
      FROM (
        SELECT body ->> 'number' AS number FROM invoices WHERE company = ${company} AND status = 'issued'
        UNION ALL SELECT body ->> 'number' FROM quotes WHERE company = ${company}
      ) AS numbered
    ) AS parted
    WHERE number = ${before} || digits || ${after} AND trim(digits, '0123456789') = ''
      AND length(digits) <= ${sql.lit(DIGITS_MAX)}`.execute(transaction);
  return Number(rows[0]?.highest ?? 0);
}

/**
 * Changes a company's numbering under the company's lock; undefined when there is no such company. An error of `change`
 * leaves it as it was.
 */
export async function changeNumbering(
  transaction: StoreTransaction,
  company: string,
  change: (numbering: Numbering, findHighest: FindHighest) => Promise<Numbering>,
): Promise<Numbering | undefined> {
  if (!(await lockCompany(transaction, company))) return undefined;
  const numbering = await findNumbering(transaction, company);
  if (!numbering) return undefined;
  const { formats, lastNumbers } = await change(numbering, (...around) =>
    highestNumber(transaction, company, around),
  );
  await transaction
    .updateTable('companies')
    .set({ number_formats: JSON.stringify(formats) })
    .where('id', '=', company)
    .execute();
  for (const [series, lastNumber] of Object.entries(lastNumbers)) {
    await transaction
      .insertInto('number_series')
      .values({ company, series, last_number: lastNumber })
      .onConflict((conflict) =>
        conflict.columns(['company', 'series']).doUpdateSet({ last_number: lastNumber }),
      )
      .execute();
  }
  return { formats, lastNumbers };
}
