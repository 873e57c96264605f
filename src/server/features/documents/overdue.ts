import { sql } from 'kysely';

import type { Engine } from '../../store/engines/engine.ts';

/** The count and sum of the overdue invoices in one currency. */
export interface OverdueTotal {
  currency: string;
  count: number;
  dueMinor: number;
}

/** Sums the amounts overdue on a day of the company, by currency. It reads only overdue invoices. */
export async function overdueTotals({ db }: Engine, company: string, today: string): Promise<OverdueTotal[]> {
  const { rows } = await sql<Record<'currency' | 'count' | 'due', string | number>>`
    SELECT currency, COUNT(*) AS count, SUM(balance_minor) AS due FROM invoices
    WHERE company = ${company} AND balance_minor > 0 AND due_date < ${today}
    GROUP BY currency ORDER BY currency`.execute(db);
  return rows.map((row) => ({
    currency: String(row.currency),
    count: Number(row.count),
    dueMinor: Number(row.due),
  }));
}
