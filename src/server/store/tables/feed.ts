import type { Resource } from '../../../contract/records.ts';
import { bigInteger, type Column, company, orNull, defineTable, text } from './table.ts';

/** The feed's changes that were made, by their ids, so that one that is sent again is answered with its record. */
export const appliedChanges = defineTable({
  name: 'applied_changes',
  columns: {
    company,
    id: text,
    change: text,
    content_digest: text,
    applied_at: text,
    /** The record that it was about; null where there is none. */
    resource: orNull(text as Column as Column<Resource, Resource>),
    record_id: orNull(text),
    /** The feed token that brought it over HTTP. */
    token: orNull(text),
  },
  key: ['company', 'id'],
  indexes: { applied_changes_age: '(applied_at)' },
  age: 'applied_at',
  isKeyed: true,
});

/** The last change of each source that was applied. */
export const feedPositions = defineTable({
  name: 'feed_positions',
  columns: { company, source: text, sequence: bigInteger, change_id: orNull(text), applied_at: text },
  key: ['company', 'source'],
  isKeyed: true,
});
