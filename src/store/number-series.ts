import { sql } from 'kysely';

import { lockCompany } from './companies.ts';
import type { Engine, StoreTransaction } from './engine.ts';

/** Gives the next number of a series, from 1: for good when the transaction commits, and else not at all. */
export type TakeNumber = (transaction: StoreTransaction, company: string, series: string) => Promise<number>;

export function createNumberSeries(engine: Engine): TakeNumber {
  const take = engine.command((db, value: { company: string; series: string }) =>
    db
      .insertInto('number_series')
      .values({ company: value.company, series: value.series, last_number: 1 })
      .onConflict((conflict) =>
        conflict
          .columns(['company', 'series'])
          .doUpdateSet({ last_number: sql`number_series.last_number + 1` }),
      )
      .returning('last_number'),
  );
  return async (transaction, company, series) => {
    const [row] = await take(transaction, { company, series });
    if (!row) throw new Error(`The series ${series} gave no number.`);
    return row.last_number;
  };
}

/** How documents of a kind are numbered, and the number after which a series goes on. */
export interface Numbering {
  kind: string;
  format: string | undefined;
  continued: { series: string; lastNumber: number } | undefined;
}

/**
 * Sets how a company's documents of a kind are numbered, under the company's lock.
 * @returns false when there is no such company; the last number given out, when it is higher than the one to go on from.
 */
export async function setNumbering(
  engine: Engine,
  company: string,
  { kind, format, continued }: Numbering,
): Promise<boolean | number> {
  return engine.transaction(async (transaction) => {
    if (!(await lockCompany(engine, transaction, company))) return false;
    if (continued) {
      const { series, lastNumber } = continued;
      const row = await transaction
        .selectFrom('number_series')
        .select('last_number')
        .where('company', '=', company)
        .where('series', '=', series)
        .executeTakeFirst();
      if (row && row.last_number > lastNumber) return row.last_number;
      await transaction
        .insertInto('number_series')
        .values({ company, series, last_number: lastNumber })
        .onConflict((conflict) =>
          conflict.columns(['company', 'series']).doUpdateSet({ last_number: lastNumber }),
        )
        .execute();
    }
    if (format !== undefined) await setFormat(transaction, company, kind, format);
    return true;
  });
}

async function setFormat(
  transaction: StoreTransaction,
  company: string,
  kind: string,
  format: string,
): Promise<void> {
  const { number_formats } = await transaction
    .selectFrom('companies')
    .select('number_formats')
    .where('id', '=', company)
    .executeTakeFirstOrThrow();
  // Written here.
  const formats = { ...(JSON.parse(number_formats) as Record<string, string>), [kind]: format };
  await transaction
    .updateTable('companies')
    .set({ number_formats: JSON.stringify(formats) })
    .where('id', '=', company)
    .execute();
}
