import { sql } from 'kysely';

import { companies } from '../tables/companies.ts';
import { readRow } from '../tables/table.ts';
import { lockCompany } from './companies.ts';
import type { Connection } from '../dialects/dialect.ts';
import type { StoreTransaction } from '../engines/engine.ts';

/** The kinds of document that are numbered, each in its own series unless two formats coincide. */
export type Numbered = 'invoice' | 'credit_note' | 'pro_forma' | 'quote';

/** Default formats. `{year}` is the year of issue, so a series restarts each year; `{number:4}` has at least four digits. */
export const defaultNumberFormats: Record<Numbered, string> = {
  invoice: 'INV-{year}-{number:4}',
  credit_note: 'CN-{year}-{number:4}',
  pro_forma: 'PF-{year}-{number:4}',
  quote: 'Q-{year}-{number:4}',
};

/** Returns the number format of a kind of document: the company's own, or else the default. */
export function formatOf(kind: Numbered, formats: Numbering['formats']): string {
  return formats[kind] ?? defaultNumberFormats[kind];
}

/**
 * Returns the kinds of document that a series numbers. Its numbers are those of documents issued here, and of imported ones
 * of these kinds only: another system's credit notes don't affect invoices issued here, whose numbers have no gap.
 */
export function kindsIn(series: string, formats: Numbering['formats']): Numbered[] {
  const years = [...series.matchAll(/(?=(\d{4}))/g)].map(([, year = '']) => year);
  const all = Object.keys(defaultNumberFormats) as Numbered[];
  return all.filter((kind) => {
    const format = formatOf(kind, formats);
    return ['', ...years].some((year) => format.replaceAll('{year}', year) === series);
  });
}

/**
 * Takes the next number of a series and returns it; the first is 1. The number is used up only when the transaction commits.
 * @param after the number after which to continue if the series hasn't reached it yet.
 */
export async function takeNextNumber(
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
  formats: Partial<Record<string, string>>;
  lastNumbers: Record<string, number>;
}

/** Returns the numbering of a company's documents; undefined when there is no such company. */
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
    formats: readRow(companies, row).numberFormats,
    lastNumbers: Object.fromEntries(series.map(({ series: name, last_number }) => [name, last_number])),
  };
}

/** Maximum number of digits in the running part of a document number. */
const DIGITS_MAX = 9;

/** Returns the highest number used in a series of these kinds, given the texts before and after its digits; 0 if none. */
export async function highestNumber(
  transaction: StoreTransaction,
  company: string,
  [before, after]: [string, string],
  kinds: readonly Numbered[],
): Promise<number> {
  const around = sql.lit(before.length + after.length);
  const { rows } = await sql<{ highest: number | string | null }>`
    SELECT MAX(CAST(digits AS BIGINT)) AS highest FROM (
      SELECT number, CASE WHEN length(number) > ${around}
        THEN substr(number, ${sql.lit(before.length + 1)}, length(number) - ${around}) END AS digits
      FROM (
        SELECT body ->> 'number' AS number FROM invoices
          WHERE company = ${company} AND status = 'issued' AND ${isNumberedWith(kinds)}
        UNION ALL SELECT body ->> 'number' FROM quotes
          WHERE company = ${company} AND ${sql.lit(kinds.includes('quote'))}
      ) AS numbered
    ) AS parted
    WHERE number = ${before} || digits || ${after} AND trim(digits, '0123456789') = ''
      AND length(digits) <= ${sql.lit(DIGITS_MAX)}`.execute(transaction);
  return Number(rows[0]?.highest ?? 0);
}

/** Returns the SQL condition that a row of `invoices` was issued here, or imported and of one of the given kinds. */
export function isNumberedWith(kinds: readonly Numbered[]) {
  return sql<boolean>`(unpublished ->> 'isImported' IS NULL OR kind IN (${sql.join(kinds)}))`;
}

/**
 * Changes a company's numbering under its lock and returns it; undefined when there is no such company. An error in `change`
 * leaves it unchanged.
 */
export async function changeNumbering(
  transaction: StoreTransaction,
  company: string,
  change: (numbering: Numbering) => Promise<Numbering>,
): Promise<Numbering | undefined> {
  if (!(await lockCompany(transaction, company))) return undefined;
  const numbering = await findNumbering(transaction, company);
  if (!numbering) return undefined;
  const { formats, lastNumbers } = await change(numbering);
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
