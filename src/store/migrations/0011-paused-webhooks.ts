import type { Migration } from '../migrate.ts';

/** When a webhook was paused, null while it is not; and an index of the paused, which every walk asks. */
export const pausedWebhooks: Migration = {
  name: '0011-paused-webhooks',
  statements: ({ text }) => [
    `ALTER TABLE webhooks ADD COLUMN paused_at ${text}`,
    'CREATE INDEX webhooks_paused ON webhooks (company, id) WHERE paused_at IS NOT NULL',
  ],
};
