import { hash } from 'node:crypto';

import { computedOnce } from './computed.ts';
import { contractDocument } from './document.ts';
import { type Resource, schemaNames } from './records.ts';
import { schemaWithoutProse } from './schemas.ts';

/** The renderings of resources, 1 unless named. Raise one when the same record is stored as another text, or beside other columns. */
const RENDERINGS: Partial<Record<Resource, number>> = {};

/**
 * A digest of the schemas that render a resource, without their prose. While it stays the same, so do the texts of records.
 */
export const renderingDigest = computedOnce((resource: Resource): string => {
  const { body, whole } = schemaNames[resource];
  const schemas = [body, whole].map((name) =>
    schemaWithoutProse(contractDocument().components.schemas[name] ?? {}),
  );
  return hash('sha256', JSON.stringify([RENDERINGS[resource] ?? 1, resource, schemas]), 'base64url');
});
