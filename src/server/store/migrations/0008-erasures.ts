import type { Migration } from './migration.ts';

/**
 * The companies that were erased, without anything that is theirs: an operator who knows a company's id finds its erasure
 * by the SHA-256 of the id. `ended_at` is null while rows are left.
 */
export const erasures: Migration = {
  name: '0008-erasures',
  statements: ({ text, table }) => [
    `CREATE TABLE erasures (
      id ${text} PRIMARY KEY,
      company_sha256 ${text} NOT NULL,
      started_at ${text} NOT NULL,
      ended_at ${text},
      row_count INTEGER NOT NULL
    ) ${table}`,
  ],
};
