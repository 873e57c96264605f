import type { Migration } from './migration.ts';

/**
 * The code that keeps attempts counts them by the hour in the same transaction, and whoever adds deliveries tells the workers
 * (../deliveries/webhook-health.ts, ../dialects/dialect.ts). The triggers of 0004-webhooks.ts, which databases that are spread
 * over several machines refuse, go. Old hours are looked for by their age.
 */
export const attemptCounts: Migration = {
  name: '0015-attempt-counts',
  statements: ({ name }) => [
    ...(name === 'sqlite' ? dropOnSqlite : dropOnPostgres),
    'CREATE INDEX webhook_hours_age ON webhook_hours (hour)',
  ],
};

const dropOnSqlite = ['delivery_attempts_count', 'webhook_hours_old', 'webhooks_hours'].map(
  (trigger) => `DROP TRIGGER ${trigger}`,
);

const dropOnPostgres = [
  ['delivery_attempts_count', 'delivery_attempts', 'count_attempts'],
  ['webhook_hours_old', 'webhook_hours', 'forget_old_hours'],
  ['webhooks_hours', 'webhooks', 'forget_hours'],
  ['deliveries_notify', 'deliveries', 'notify_deliveries'],
].flatMap(([trigger, table, called]) => [`DROP TRIGGER ${trigger} ON ${table}`, `DROP FUNCTION ${called}()`]);
