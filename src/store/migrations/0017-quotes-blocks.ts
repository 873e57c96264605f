import type { Migration } from '../migrate.ts';
import { blocksOf, type Dated } from './0015-day-blocks.ts';
import { monthOf } from './0016-month-blocks.ts';

/**
 * Quotes by the day until which they are valid, as documents by theirs: where some are valid and others have changed,
 * those that are both are found in id order (see ../day-walks.ts).
 */
export const quotesBlocks: Migration = {
  name: '0017-quotes-blocks',
  statements: ({ name }) =>
    name === 'sqlite'
      ? [...indexes, ...blocksOf(valid, 'day', (day) => day), ...blocksOf(valid, 'month', monthOf)]
      : indexes.slice(0, 1),
};

const indexes = [
  'CREATE INDEX quotes_valid ON quotes (company, status, valid_until, id, updated_at, customer)',
  `CREATE INDEX quotes_of_month ON quotes (company, status, ${monthOf('valid_until')}, id, updated_at)`,
];

/** What has expired is kept as sent; the lists that ask for days ask for one status. */
const valid: Dated = { table: 'quotes', day: 'valid_until', within: ['status'] };
