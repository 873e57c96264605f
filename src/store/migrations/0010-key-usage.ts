import type { Migration } from '../migrate.ts';

/**
 * How keys are used: when each was used last, and how often in each hour of the last days. Both stand beside the keys
 * and not in them, because every request reads a key's row and none should find it being written. And an index that
 * tells a company's active keys from the revoked ones, of which there is any number.
 */
export const keyUsage: Migration = {
  name: '0010-key-usage',
  statements: ({ text, table }) => [
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
    'CREATE INDEX api_keys_revoked ON api_keys (company, revoked_at, id)',
  ],
};
