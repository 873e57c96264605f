import type { Migration } from '../migrate.ts';
import { blocksOf, issued } from './0015-day-blocks.ts';

/**
 * Blocks of each month's documents, as those of each day: a range of years has too many days to walk each, beside a
 * range of times (see ../day-walks.ts).
 */
export const monthBlocks: Migration = {
  name: '0016-month-blocks',
  statements: ({ name }) => (name === 'sqlite' ? [index, ...blocksOf(issued, 'month', monthOf)] : []),
};

/** Only what is written just so is found by the index. */
export const monthOf = (day: string) => `SUBSTR(${day}, 1, 7)`;

const index = `CREATE INDEX invoices_of_month ON invoices (company, ${monthOf('issue_date')}, id, updated_at)`;
