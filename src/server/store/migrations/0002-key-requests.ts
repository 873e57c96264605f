import { keyRequests } from '../tables/keys.ts';
import { createTableStatements } from '../tables/table.ts';
import type { Migration } from './migration.ts';

/** Adds the table of requests, one by one. */
export const addKeyRequests: Migration = {
  name: '0002-key-requests',
  adds: [keyRequests],
  statements: (engine) => createTableStatements(keyRequests, engine),
};
