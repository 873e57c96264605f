import type { Migration } from '../migrate.ts';

/** The deleted webhooks, which are looked for every minute, and after each batch of what is left of one. */
export const deletedWebhooks: Migration = {
  name: '0007-deleted-webhooks',
  statements: () => ['CREATE INDEX webhooks_deleted ON webhooks (company, id) WHERE deleted_at IS NOT NULL'],
};
