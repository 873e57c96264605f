import { createHash } from 'node:crypto';

import type { Change } from '../contract/feed.ts';

/**
 * The digest of a change. It doesn't depend on the order of members or on white space. The change's own id isn't in it.
 */
export function digestOfChange({ id: _id, ...content }: Change): string {
  return createHash('sha256')
    .update(JSON.stringify(content, (_key, value: unknown) => inOrder(value)))
    .digest('base64url');
}

/** An object with its members in the order of their names. */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
