import type { Migration } from '../migrate.ts';

/**
 * The digest of what a change of the feed said, by which one that comes again with its id is known to be the same. A
 * change that was made before has none, and is known by its name alone.
 */
export const appliedContents: Migration = {
  name: '0021-applied-contents',
  statements: ({ text }) => [`ALTER TABLE applied_changes ADD COLUMN content_digest ${text}`],
};
