import type { Migration } from './migration.ts';

/**
 * Invitations by a business system, which sign in without a password: the person's name and the feed token; and what a feed
 * token may give by them. And keys that end by themselves: `ends_at` is the end of the last day, or when it was revoked.
 */
export const portalLinks: Migration = {
  name: '0021-portal-links',
  statements: ({ text }) => [
    `ALTER TABLE portal_links ADD COLUMN name ${text}`,
    `ALTER TABLE portal_links ADD COLUMN feed_token ${text}`,
    `ALTER TABLE feed_tokens ADD COLUMN portal_scopes ${text} NOT NULL DEFAULT '[]'`,
    'ALTER TABLE feed_tokens ADD COLUMN portal_may_invite INTEGER NOT NULL DEFAULT 0',
    `ALTER TABLE api_keys ADD COLUMN ends_at ${text}`,
    'UPDATE api_keys SET ends_at = revoked_at',
    'DROP INDEX api_keys_revoked',
    'CREATE INDEX api_keys_ended ON api_keys (company, ends_at, id)',
  ],
};
