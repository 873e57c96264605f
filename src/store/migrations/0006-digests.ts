import type { Migration } from '../migrate.ts';

const tables = ['people', 'customers', 'forms', 'jobs', 'submissions', 'invoices', 'quotes'];

/**
 * The digest of each record's text (see ../../contract/render.ts), from which answers have their ETags without being
 * digested themselves. A record that was written before has none until it is written again.
 */
export const digests: Migration = {
  name: '0006-digests',
  statements: ({ text }) => tables.map((table) => `ALTER TABLE ${table} ADD COLUMN digest ${text}`),
};
