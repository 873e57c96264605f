import type { Dialect, Migration } from '../migrate.ts';

/** Capitals of the basic alphabet don't matter in a search; both engines take text byte by byte, and change no others. */
export function searchable({ name }: Pick<Dialect, 'name'>, column: string): string {
  return name === 'sqlite' ? `lower(${column})` : `lower((${column}) COLLATE "C")`;
}

/** What documents are searched by: the beginning of their numbers, and of their customers' names. */
export const documentSearch: Migration = {
  name: '0013-document-search',
  statements: (dialect) => [
    `CREATE INDEX invoices_searched ON invoices (company, (${searchable(dialect, "body ->> 'number'")}), id)
      WHERE status = 'issued'`,
    `CREATE INDEX customers_searched ON customers (company, (${searchable(dialect, "body ->> 'name'")}), id)`,
  ],
};
