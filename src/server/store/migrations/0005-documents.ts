import type { Migration } from './migration.ts';

/**
 * The PDF of each issued document, made once and never again: what was given out once is given out for ever. Drafts
 * have none here. The bytes come last, so that SQLite finds the rest without reading them; PostgreSQL keeps them apart,
 * as they are, because a PDF is compressed already.
 */
export const documents: Migration = {
  name: '0005-documents',
  statements: ({ name, text, table }) => [
    `CREATE TABLE documents (
      company ${text} NOT NULL,
      invoice ${text} NOT NULL,
      number ${text} NOT NULL,
      sha256 ${text} NOT NULL,
      byte_count INTEGER NOT NULL,
      bytes ${name === 'sqlite' ? 'BLOB' : 'BYTEA'} NOT NULL,
      PRIMARY KEY (company, invoice),
      FOREIGN KEY (company, invoice) REFERENCES invoices (company, id)
    ) ${table}`,
    ...(name === 'sqlite' ? [] : ['ALTER TABLE documents ALTER COLUMN bytes SET STORAGE EXTERNAL']),
  ],
};
