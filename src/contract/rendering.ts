import { hash } from 'node:crypto';

import { contractDocument } from './document.ts';
import { type Resource, schemaNames } from './records.ts';
import { schemaWithoutProse } from './schemas.ts';

/** To be raised when the functions of render.ts render a record as another text than before. */
const RENDERING = 1;

/**
 * A digest of what renders the records of a resource. While it stays the same, so do the texts of its records: a contract
 * that says something else only in its prose has the same.
 */
export function renderingDigest(resource: Resource): string {
  digests[resource] ??= digestOf(resource);
  return digests[resource];
}

const digests: Partial<Record<Resource, string>> = {};

function digestOf(resource: Resource): string {
  const names: { body: string; whole?: string } = schemaNames[resource];
  const schemas = [names.body, names.whole ?? names.body].map((name) =>
    schemaWithoutProse(contractDocument().components.schemas[name] ?? {}),
  );
  return hash('sha256', JSON.stringify([RENDERING, resource, schemas]), 'base64url');
}
