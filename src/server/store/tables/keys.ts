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
    /** The end of the key's last day, or the time it was revoked; null if it doesn't expire. */
    ends_at: orNull(text),
    /** The administrator who created the key; null when an operator did. */
    made_by: orNull(text),
  },
  key: ['company', 'id'],
  indexes: {
    // Separates active keys from ended ones, of which a company may have any number.
    api_keys_ended: '(company, ends_at, id)',
  },
});

/**
 * The last use of each key. Uses and hours have their own tables because every request reads its key's row, which should not
 * be locked by a write.
 */
export const keyUses = defineTable({
  name: 'key_uses',
  columns: { company: text, key_id: text, used_at: text },
  key: ['company', 'key_id'],
});

/** Each key's number of requests per hour. */
export const keyHours = defineTable({
  name: 'key_hours',
  columns: {
    company: text,
    hour: text,
    key_id: text,
    /** Requests answered with any status, except those that the rate limit refused. */
    answered: integer,
    /** Requests that the rate limit refused. */
    limited: integer,
  },
  key: ['company', 'hour', 'key_id'],
  indexes: { key_hours_age: '(hour)' },
  age: 'hour',
});

/** Each key's requests of the last days, one by one: never a value of a parameter, so `operation` is a path's template. */
export const keyRequests = defineTable({
  name: 'key_requests',
  columns: {
    company: text,
    /** Time of the answer. */
    at: text,
    /** The request's id, as the API answers it. */
    id: text,
    key_id: text,
    method: text,
    operation: text,
    status: integer,
    /** Code of the problem; null for an answer without one. */
    code: orNull(text),
    ms: integer,
  },
  key: ['company', 'at', 'id'],
  indexes: { key_requests_age: '(at)' },
  isKeyed: true,
  age: 'at',
});

/** Rate-limit counts per key, shared by all processes with the same database; updated at every request. */
export const keyCounts = defineTable({
  name: 'key_counts',
  columns: { company: text, key_id: text, points: integer, expire: bigInteger },
  key: ['company', 'key_id'],
  constraints: ['FOREIGN KEY (company, key_id) REFERENCES api_keys (company, id) ON DELETE CASCADE'],
  isCounter: true,
  also: () => ['ALTER TABLE key_counts SET (fillfactor = 50)'],
});

/** Rate-limit counts of network addresses and other keys that belong to no company. */
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
    /** The names of the changes that the token may send; null for all. */
    changes: orNull(json<string[]>()),
    /** The scopes that its portal links may grant; empty for a token that can't create links. */
    portal_scopes: orElse(json<Scope[]>(), "'[]'"),
    portal_may_invite: orElse(flag, '0'),
    created_at: text,
    revoked_at: orNull(text),
    used_at: orNull(text),
  },
  key: ['id'],
  isOnEachMachine: true,
});

/** The companies of each feed token that isn't for all companies. */
export const feedTokenCompanies = defineTable({
  name: 'feed_token_companies',
  columns: { company: text, token: text },
  key: ['company', 'token'],
  indexes: { feed_token_companies_of: '(token, company)' },
  isKeyed: true,
  isOnEachMachine: true,
});
