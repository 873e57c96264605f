import { sql } from 'kysely';

import type { Invoice } from '../../../contract/records.ts';
import { joinRecordTexts } from '../../../contract/render.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { BEFORE_CUSTOMER } from '../../store/search-columns.ts';
import { changeTimeOf } from './payments.ts';
import { type DocumentSearch, entries, partsOf } from './searched-parts.ts';

/** A customer's open invoices in one currency. */
export interface Receivable {
  currency: string;
  customer: string;
  /** The customer's name as searches read it, in small letters without accents. */
  name: string;
  /** The place of one of these invoices in the order of documents; see document-search.ts. */
  place: string;
  count: number;
  /** Amounts due in minor units, one for each age group: first those not due before the last of `days`, oldest at the end. */
  dueMinor: number[];
}

/**
 * Reads the amounts that each customer owes, by how long ago they were due. It scans a part of the search index.
 * @param days the boundaries between age groups, oldest first; an amount due before a boundary is older than it.
 */
export async function readReceivables(
  engine: Engine,
  company: string,
  days: readonly string[],
): Promise<Receivable[]> {
  const receivables = new Map<string, Receivable>();
  const ages = days.map((day, index) => sql`WHEN due_date < ${day} THEN ${sql.lit(days.length - index)}`);
  const namesAt = engine.dialect.position('search_words', BEFORE_CUSTOMER);
  const open: DocumentSearch = { text: '', findsCustomers: false, state: 'open', today: '' };
  for await (const part of partsOf(engine, company, open)) {
    const { currency } = part;
    const { rows } = await sql<
      Omit<Receivable, 'count' | 'currency' | 'dueMinor'> &
        Record<'age', number> &
        Record<'count' | 'due', number | string>
    >`
      SELECT customer, CASE ${sql.join(ages, sql` `)} ELSE 0 END AS age,
        MAX(substr(search_words, ${namesAt} + 1)) AS name, MAX(place) AS place, COUNT(*) AS count, SUM(balance_minor) AS due
      FROM ${entries(engine, company, part, open)}
      GROUP BY customer, age`.execute(engine.db);
    for (const { customer, name, place, count, age, due } of rows) {
      const key = `${currency} ${customer}`;
      const none = { currency, customer, name, place, count: 0, dueMinor: [0, ...days.map(() => 0)] };
      const receivable = receivables.get(key) ?? none;
      receivable.count += Number(count);
      receivable.dueMinor[age] = (receivable.dueMinor[age] ?? 0) + Number(due);
      receivables.set(key, receivable);
    }
  }
  return [...receivables.values()];
}

/** Reads a customer's issued invoices in a currency that have a balance, or that changed since a day: the newest, oldest first. */
export async function readCustomerInvoices(
  { db, dialect }: Engine,
  company: string,
  { customer, currency, since, limit }: Record<'customer' | 'currency' | 'since', string> & { limit: number },
): Promise<Invoice[]> {
  const { rows } = await sql<Record<'body' | 'detail', string>>`
    SELECT body, detail FROM invoices ${dialect.indexedBy('invoices_of_customer')}
    WHERE company = ${company} AND customer = ${customer} AND status = 'issued' AND kind = 'invoice'
      AND currency = ${currency} AND (balance_minor <> 0 OR updated_at >= ${changeTimeOf(since)})
    ORDER BY issue_date DESC, id DESC LIMIT ${limit}`.execute(db);
  // Both texts were rendered from one Invoice.
  return rows.toReversed().map((row) => JSON.parse(joinRecordTexts(row)) as Invoice);
}
