import { sql } from 'kysely';

import type { Engine } from '../../store/engines/engine.ts';

/** The open invoices in one currency, how many of them are overdue, and the one that was due first. */
export interface OpenTotal {
  currency: string;
  count: number;
  dueMinor: number;
  overdueCount: number;
  overdueMinor: number;
  /** Undefined if none of them has a due date. */
  oldest: { id: string; number: string; customer: string; dueDate: string } | undefined;
}

type Summed = Record<Exclude<keyof OpenTotal, 'currency' | 'oldest'>, number | string | null>;

/** Sums the amounts open on a day of the company, by currency. It reads only the index of open invoices. */
export async function openTotals(
  { db, dialect }: Engine,
  company: string,
  today: string,
): Promise<OpenTotal[]> {
  const isOverdue = sql`FILTER (WHERE due_date < ${today})`;
  const open = sql`FROM invoices ${dialect.indexedBy('invoices_due')} WHERE company = ${company} AND balance_minor > 0`;
  const { rows } = await sql<Summed & { currency: string; dueDate: string | null }>`
    SELECT currency, MIN(due_date) AS ${sql.id('dueDate')}, COUNT(*) AS count, SUM(balance_minor) AS ${sql.id('dueMinor')},
      COUNT(*) ${isOverdue} AS ${sql.id('overdueCount')}, SUM(balance_minor) ${isOverdue} AS ${sql.id('overdueMinor')}
    ${open} GROUP BY currency ORDER BY currency`.execute(db);
  return Promise.all(
    rows.map(async ({ currency, dueDate, ...sums }) => {
      const dueFirst = await sql<NonNullable<OpenTotal['oldest']>>`
        SELECT id, body ->> 'number' AS number, body -> 'customer' ->> 'name' AS customer, due_date AS ${sql.id('dueDate')}
        ${open} AND due_date = ${dueDate} AND currency = ${currency} LIMIT 1`.execute(db);
      return {
        ...{ currency, count: Number(sums.count), dueMinor: Number(sums.dueMinor) },
        ...{ overdueCount: Number(sums.overdueCount), overdueMinor: Number(sums.overdueMinor) },
        oldest: dueFirst.rows[0],
      };
    }),
  );
}
