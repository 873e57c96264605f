import { hasDetail, resources } from '../../../../src/contract/records.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { type InvoiceFilters, invoicesPage } from '../../../../src/server/store/records/invoices.ts';
import type { Connection } from '../../../../src/server/store/dialects/dialect.ts';
import { quotesPage, type QuoteFilters } from '../../../../src/server/store/records/quotes.ts';
import { submissionsPage, listRecords } from '../../../../src/server/store/records/records.ts';
import { withQueriesThrough } from '../_queries.ts';

/** A list of the store with one combination of its filters. */
export interface ListCase {
  name: string;
  list: (db: Connection, company: string, page: { after: string; limit: number }) => Promise<unknown>;
}

export interface ListStatement {
  /** A way of reading a list that src/server/store/lists/lists.ts has. */
  kind: 'scan' | 'count' | 'sort' | 'slice end' | 'slice';
  sql: string;
  values: unknown[];
}

/**
 * The statements that a list can run, in every way its counts can turn out; none of them is run.
 * @param page where the page begins; `after` `''` is the beginning.
 */
export async function statementsOf(
  engine: Engine,
  { list }: ListCase,
  company: string,
  page = { after: '', limit: 50 },
): Promise<ListStatement[]> {
  const statements = new Map<string, ListStatement>();
  // A list has three ranges at most: the first has few matches, or the second, or the third, or none.
  for (const shortRange of [0, 1, 2, 3]) {
    let counts = 0;
    let ends = 0;
    const recorder = withQueriesThrough(engine, async ({ sql, parameters }) => {
      const kind = kindOf(sql);
      if (!statements.has(sql)) statements.set(sql, { kind, sql, values: [...parameters] });
      if (kind === 'count') return { rows: [{ count: counts++ === shortRange ? 0 : 100_000 }] };
      // The first slice of several.
      return { rows: kind === 'slice end' && ends++ === 0 ? [{ id: '000000005000' }] : [] };
    });
    await list(recorder.db, company, page);
  }
  return [...statements.values()];
}

/** Tells the statements apart by their text. */
export function kindOf(sql: string): ListStatement['kind'] {
  if (sql.includes('COUNT(*)')) return 'count';
  if (/ OFFSET \d+$/.test(sql)) return 'slice end';
  if (!sql.includes('wanted')) return 'scan';
  return sql.includes('ORDER BY COALESCE') ? 'sort' : 'slice';
}

const none = undefined;
const updatedSince = '2026-11-12T00:00:00.000Z';
const today = '2026-11-20';

/** Every combination of one value of each name. */
function combinations<Filters extends object>(choices: {
  readonly [K in keyof Filters]-?: readonly (Filters[K] | undefined)[];
}): Filters[] {
  const all = Object.entries<readonly unknown[]>(choices).reduce<object[]>(
    (made, [name, values]) => made.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );
  // Each has one value under every name.
  return all as Filters[];
}

const invoiceFilters = combinations<InvoiceFilters>({
  kind: [none, 'invoice', 'credit_note', 'pro_forma'],
  status: ['issued', 'draft', 'all'],
  customer: [none, 'cus_1'],
  issuedFrom: [none, '2026-11-01'],
  issuedTo: [none, '2026-11-15'],
  updatedSince: [none, updatedSince],
});

const quoteFilters = combinations<QuoteFilters>({
  status: [none, 'draft', 'sent', 'accepted', 'declined', 'revised', 'expired'],
  customer: [none, 'cus_1'],
  versions: ['latest', 'all'],
  updatedSince: [none, updatedSince],
});

/** The tables of the lists that have no filters of their own. */
const plainTables = resources.filter((table) => table !== 'submissions' && !hasDetail(table));

/** Every list of the store with every combination of its filters. */
export const listCases: ListCase[] = [
  ...plainTables.flatMap((table) =>
    (table === 'people' ? [none] : [none, updatedSince]).map((since): ListCase => ({
      name: `${table} ${JSON.stringify({ updatedSince: since })}`,
      list: (db, company, page) => listRecords(db, table, company, since, page),
    })),
  ),
  ...[none, updatedSince].map((since): ListCase => ({
    name: `submissions ${JSON.stringify({ updatedSince: since })}`,
    list: (db, company, page) => submissionsPage(db, company, 'form_1', since, page),
  })),
  ...invoiceFilters.map((filters): ListCase => ({
    name: `invoices ${JSON.stringify(filters)}`,
    list: (db, company, page) => invoicesPage(db, company, filters, page),
  })),
  ...quoteFilters.map((filters): ListCase => ({
    name: `quotes ${JSON.stringify(filters)}`,
    list: (db, company, page) => quotesPage(db, company, today, filters, page),
  })),
];
