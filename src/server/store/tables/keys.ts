import type { Scope } from '../../../contract/scopes.ts';
import {
  bigInteger,
  company,
  flag,
  integer,
  json,
  orElse,
  orNull,
  secret,
  defineTable,
  text,
} from './table.ts';

export const apiKeys = defineTable({
  name: 'api_keys',
  columns: {
    company,
    id: text,
    name: text,
    /** Hex SHA-256 of the secret; the secret itself is never stored. */
    secret_sha256: secret,
    scopes: json<Scope[]>(),
    created_at: text,
    revoked_at: orNull(text),
    /** The end of its last day, or when it was revoked; null for a key that goes on. */
    ends_at: orNull(text),
    /** The administrator who made it; null when an operator did. */
    made_by: orNull(text),
  },
  key: ['company', 'id'],
  indexes: {
    // Active keys apart from those that have ended, of which a company may have any number.
    api_keys_ended: '(company, ends_at, id)',
  },
});

/**
 * When each key was used last. Uses and hours stand beside the keys and not in them, because every request reads a key's row and
 * none should find it being written.
 */
export const keyUses = defineTable({
  name: 'key_uses',
  columns: { company: text, key_id: text, used_at: text },
  key: ['company', 'key_id'],
});

/** The requests of a key in an hour. */
export const keyHours = defineTable({
  name: 'key_hours',
  columns: {
    company: text,
    hour: text,
    key_id: text,
    /** Requests that were answered, with whatever status, but those that the rate limit refused. */
    answered: integer,
    /** Requests that the rate limit refused. */
    limited: integer,
  },
  key: ['company', 'hour', 'key_id'],
  indexes: { key_hours_age: '(hour)' },
  age: 'hour',
});

/** Processes that share a database share the count of each key's requests, which changes at every request. */
export const keyCounts = defineTable({
  name: 'key_counts',
  columns: { company: text, key_id: text, points: integer, expire: bigInteger },
  key: ['company', 'key_id'],
  constraints: ['FOREIGN KEY (company, key_id) REFERENCES api_keys (company, id) ON DELETE CASCADE'],
  isCounter: true,
  also: () => ['ALTER TABLE key_counts SET (fillfactor = 50)'],
});

/** The counts of addresses and of whatever else is limited that has no company. */
export const rateCounts = defineTable({
  name: 'rate_counts',
  columns: { key: text, points: integer, expire: bigInteger },
  key: ['key'],
  isCounter: true,
});

export const feedTokens = defineTable({
  name: 'feed_tokens',
  columns: {
    id: text,
    name: text,
    /** Hex SHA-256 of the secret; the secret itself is never stored. */
    secret_sha256: secret,
    for_all_companies: flag,
    /** The names of changes; null for all of them. */
    changes: orNull(json<string[]>()),
    /** The scopes that its portal links may give; empty for a token that may make none. */
    portal_scopes: orElse(json<Scope[]>(), "'[]'"),
    portal_may_invite: orElse(flag, '0'),
    created_at: text,
    revoked_at: orNull(text),
    used_at: orNull(text),
  },
  key: ['id'],
  isOnEachMachine: true,
});

/** The companies of a token that isn't for all of them. */
export const feedTokenCompanies = defineTable({
  name: 'feed_token_companies',
  columns: { company: text, token: text },
  key: ['company', 'token'],
  indexes: { feed_token_companies_of: '(token, company)' },
  isKeyed: true,
  isOnEachMachine: true,
});
