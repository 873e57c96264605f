import type { Resource } from '../../../contract/records.ts';
import { bigInteger, type Column, company, orNull, defineTable, text } from './table.ts';

/** Applied feed changes by id, so that a repeated change is answered with the record of the first. */
export const appliedChanges = defineTable({
  name: 'applied_changes',
  columns: {
    company,
    id: text,
    change: text,
    content_digest: text,
    applied_at: text,
    /** The affected record's resource; null where there is none. */
    resource: orNull(text as Column as Column<Resource, Resource>),
    record_id: orNull(text),
    /** The feed token with which the change was sent over HTTP. */
    token: orNull(text),
  },
  key: ['company', 'id'],
  indexes: { applied_changes_age: '(applied_at)' },
  age: 'applied_at',
  isKeyed: true,
});

/** The last applied change from each source. */
export const feedPositions = defineTable({
  name: 'feed_positions',
  columns: { company, source: text, sequence: bigInteger, change_id: orNull(text), applied_at: text },
  key: ['company', 'source'],
  isKeyed: true,
});
