import { sql } from 'kysely';

import type { Invoice } from '../../../contract/records.ts';
import { daysAfter } from '../../backoffice/times.ts';
import type { Engine } from '../../store/engines/engine.ts';

/** Maximum number of invoices whose payments are read, which takes some 20 ms. */
const INVOICES_MAX = 2_000;

type Payment = NonNullable<Invoice['payments']>[number];

/**
 * Lists the payments of a day and the days since. No index holds them, but a payment that is recorded changes its invoice,
 * so only the invoices that have changed since the day are read.
 * @returns undefined when too many invoices have changed to read them all, as after an import.
 */
export async function paymentsSince(
  { db, dialect }: Engine,
  company: string,
  day: string,
): Promise<Payment[] | undefined> {
  const { rows } = await sql<{ payments: string | null }>`
    SELECT CAST(detail -> 'payments' AS TEXT) AS payments FROM invoices ${dialect.indexedBy('invoices_changed')}
    WHERE company = ${company} AND updated_at >= ${changeTimeOf(day)} AND status = 'issued' AND kind = 'invoice'
    LIMIT ${sql.lit(INVOICES_MAX + 1)}`.execute(db);
  if (rows.length > INVOICES_MAX) return undefined;
  // The text is a member of a rendered invoice.
  const payments = rows.flatMap((row) => JSON.parse(row.payments ?? '[]') as Payment[]);
  return payments.filter(({ paidOn }) => paidOn >= day);
}

/**
 * Returns a time before which no invoice can have changed by a payment of a given day or later: a company's day begins up to
 * 14 hours before that of UTC, and a payment of the next day is accepted too.
 */
export function changeTimeOf(day: string): string {
  return `${daysAfter(day, -2)}T00:00:00.000Z`;
}
