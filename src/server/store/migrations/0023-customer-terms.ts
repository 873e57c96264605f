import type { Migration } from './migration.ts';

/** What documents show of a customer beside what the API does, such as its electronic address. */
export const customerTerms: Migration = {
  name: '0023-customer-terms',
  statements: ({ json }) => [`ALTER TABLE customers ADD COLUMN unpublished ${json} NOT NULL DEFAULT '{}'`],
};
