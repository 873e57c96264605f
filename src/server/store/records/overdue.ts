import { sql } from 'kysely';

import type { Engine } from '../engines/engine.ts';

/** Must equal the expression of the index `invoices_due`. */
const due = sql`CAST(detail ->> 'amountDueMinor' AS BIGINT)`;

/** The overdue invoices of a currency. */
export interface OverdueTotal {
  currency: string;
  count: number;
  dueMinor: number;
}

/** What is overdue on a day of the company, by currency. It reads the invoices that are overdue alone. */
export async function overdueTotals({ db }: Engine, company: string, today: string): Promise<OverdueTotal[]> {
  const { rows } = await sql<Record<'currency' | 'count' | 'due', string | number>>`
    SELECT body ->> 'currency' AS currency, COUNT(*) AS count, SUM(${due}) AS due FROM invoices
    WHERE company = ${company} AND ${due} > 0 AND body ->> 'dueDate' < ${today}
    GROUP BY body ->> 'currency' ORDER BY 1`.execute(db);
  return rows.map((row) => ({
    currency: String(row.currency),
    count: Number(row.count),
    dueMinor: Number(row.due),
  }));
}
