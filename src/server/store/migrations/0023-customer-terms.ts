import type { Migration } from './migration.ts';

/** The terms of a customer that documents show and the API doesn't, such as its electronic address. */
export const customerTerms: Migration = {
  name: '0023-customer-terms',
  statements: ({ json }) => [`ALTER TABLE customers ADD COLUMN unpublished ${json} NOT NULL DEFAULT '{}'`],
};
