import {
  administrators,
  auditEntries,
  formResults,
  notices,
  accountLinks,
  portalSessions,
} from './accounts.ts';
import { companies, companyClocks, erasures, numberSeries, servedClock } from './companies.ts';
import { recordContracts, storeGeneration } from './database.ts';
import { documents, handOvers, logos } from './documents.ts';
import { appliedChanges, feedPositions } from './feed.ts';
import {
  apiKeys,
  feedTokenCompanies,
  feedTokens,
  keyCounts,
  keyHours,
  keyRequests,
  keyUses,
  rateCounts,
} from './keys.ts';
import { recordTables } from './records.ts';
import type { ColumnsOf, Table } from './table.ts';
import { deliveries, deliveryAttempts, events, webhookHours, webhooks } from './webhooks.ts';

/** All tables, in order of dependency: referenced tables come first. */
const all = [
  ...[recordContracts, storeGeneration, erasures, companies],
  // Before the keys, so that erasure, in reverse, removes keys first: a server records uses only of keys that exist.
  ...[keyUses, keyHours, keyRequests, apiKeys, keyCounts, rateCounts],
  ...recordTables,
  ...[
    companyClocks,
    servedClock,
    numberSeries,
    appliedChanges,
    feedPositions,
    feedTokens,
    feedTokenCompanies,
  ],
  ...[logos, documents, handOvers],
  ...[webhooks, events, deliveries, deliveryAttempts, webhookHours],
  ...[administrators, portalSessions, formResults, accountLinks, auditEntries, notices],
] as const;

type AnyTable = (typeof all)[number];

/** The database's type for Kysely. */
export type Tables = { [T in AnyTable as T['name']]: ColumnsOf<T> };

export const allTables: readonly Table[] = all;
