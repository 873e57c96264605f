import type { Dialect, Migration } from './migration.ts';

/**
 * The notices that people get by e-mail and on their page: a row for each of them, committed with what it tells of.
 * `due_at` is when it is to be mailed, and while it is being sent, when the lease on it ends. An administrator's
 * `muted_notices` is a JSON array of the kinds that they want no mail of.
 *
 * A webhook is failing since its first attempt that failed after the last that was delivered. The other two columns say when
 * people were last told of that, and of deliveries that are marked failed.
 */
export const notices: Migration = {
  name: '0019-notices',
  statements: (dialect) => [
    noticesTable(dialect),
    "CREATE INDEX notices_due ON notices (due_at) WHERE state IN ('waiting', 'sending')",
    'CREATE INDEX notices_age ON notices (created_at)',
    'CREATE INDEX notices_administrator ON notices (company, administrator, created_at)',
    `ALTER TABLE administrators ADD COLUMN muted_notices ${dialect.text} NOT NULL DEFAULT '[]'`,
    ...['failing_since', 'failing_told_at', 'failed_told_at'].map(
      (column) => `ALTER TABLE webhooks ADD COLUMN ${column} ${dialect.text}`,
    ),
    'CREATE INDEX webhooks_failing ON webhooks (company, id) WHERE failing_since IS NOT NULL',
  ],
};

function noticesTable({ text, table }: Dialect): string {
  return `CREATE TABLE notices (
    company ${text} NOT NULL REFERENCES companies (id),
    id ${text} NOT NULL,
    administrator ${text},
    kind ${text} NOT NULL,
    details ${text} NOT NULL,
    created_at ${text} NOT NULL,
    state ${text} NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sending', 'sent', 'failed', 'muted')),
    attempt_count INTEGER NOT NULL DEFAULT 0,
    due_at ${text} NOT NULL,
    lease ${text},
    stop_sha256 ${text},
    problem ${text},
    PRIMARY KEY (company, id)
  ) ${table}`;
}
