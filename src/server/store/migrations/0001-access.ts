import type { Dialect, Migration } from './migration.ts';

/** Companies, their keys, and how these are used. */
export const access: Migration = {
  name: '0001-access',
  statements: (dialect) => [
    companiesTable(dialect),
    keysTable(dialect),
    // Active keys apart from the revoked ones, of which a company may have any number.
    'CREATE INDEX api_keys_revoked ON api_keys (company, revoked_at, id)',
    ...keyUsage(dialect),
    ...rateCounts(dialect),
  ],
};

function companiesTable({ text, table }: Dialect): string {
  const flag = (name: string) => `${name} INTEGER NOT NULL CHECK (${name} IN (0, 1))`;
  return `CREATE TABLE companies (
    id ${text} PRIMARY KEY,
    name ${text} NOT NULL,
    ${flag('api_enabled')},
    ${flag('subscription_active')},
    ${flag('invoicing_enabled')},
    modules ${text} NOT NULL,
    time_zone ${text} NOT NULL,
    currency ${text} NOT NULL,
    profile ${text} NOT NULL,
    created_at ${text} NOT NULL,
    number_formats ${text} NOT NULL DEFAULT '{}'
  ) ${table}`;
}

function keysTable({ text, table }: Dialect): string {
  return `CREATE TABLE api_keys (
    company ${text} NOT NULL REFERENCES companies (id),
    id ${text} NOT NULL,
    name ${text} NOT NULL,
    secret_sha256 ${text} NOT NULL,
    scopes ${text} NOT NULL,
    created_at ${text} NOT NULL,
    revoked_at ${text},
    made_by ${text},
    PRIMARY KEY (company, id)
  ) ${table}`;
}

/**
 * When each key was used last, and how often in each hour of the last days. Both stand beside the keys and not in them,
 * because every request reads a key's row and none should find it being written.
 */
function keyUsage({ text, table }: Dialect): string[] {
  return [
    `CREATE TABLE key_uses (
      company ${text} NOT NULL,
      key_id ${text} NOT NULL,
      used_at ${text} NOT NULL,
      PRIMARY KEY (company, key_id)
    ) ${table}`,
    `CREATE TABLE key_hours (
      company ${text} NOT NULL,
      hour ${text} NOT NULL,
      key_id ${text} NOT NULL,
      answered INTEGER NOT NULL,
      limited INTEGER NOT NULL,
      PRIMARY KEY (company, hour, key_id)
    ) ${table}`,
    'CREATE INDEX key_hours_age ON key_hours (hour)',
  ];
}

/** Processes that share a database share the count of each key's requests; a crash may lose that count. */
function rateCounts({ name }: Dialect): string[] {
  if (name === 'sqlite') return [];
  return [
    'CREATE UNLOGGED TABLE rate_counts (key TEXT PRIMARY KEY, points INTEGER NOT NULL DEFAULT 0, expire BIGINT)',
  ];
}
