import { hash } from 'node:crypto';

import { memoized } from './computed.ts';
import { contractDocument } from './document.ts';
import { type Resource, schemaNames } from './records.ts';
import { schemaWithoutProse } from './schemas.ts';

/** Rendering version of each resource; 1 by default. Raise one when its records' stored text or other columns change. */
const RENDERINGS: Partial<Record<Resource, number>> = {};

/**
 * Returns a digest of a resource's schemas without their prose. Until it changes, its records' texts don't change either.
 */
export const renderingDigest = memoized((resource: Resource): string => {
  const { body, whole } = schemaNames[resource];
  const schemas = [body, whole].map((name) =>
    schemaWithoutProse(contractDocument().components.schemas[name] ?? {}),
  );
  return hash('sha256', JSON.stringify([RENDERINGS[resource] ?? 1, resource, schemas]), 'base64url');
});
