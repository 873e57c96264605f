import type { Dialect, Migration } from '../migrate.ts';

/**
 * What deliveries need to be made: leases, attempts, and the indexes that the loop walks.
 *
 * A delivery is `waiting` while it may be sent as soon as a slot is free, `sending` while a worker holds a lease on it
 * until `due_at`, and `retrying` until its next attempt is due. It ends as `delivered` or `failed`, or is `withheld`
 * when it was due while the company could not be sent it.
 */
export const deliveries: Migration = {
  name: '0004-deliveries',
  statements: (dialect) => [
    ...(dialect.name === 'sqlite' ? rebuildDeliveries(dialect) : alterDeliveries(dialect)),
    ...deliveryIndexes,
    attemptsTable(dialect),
    // A webhook that was deleted is gone for everyone at once; its row goes when the last of its deliveries has.
    `ALTER TABLE webhooks ADD COLUMN deleted_at ${dialect.text}`,
    // JSON array: when the latest pings were asked for, of which there may be some a minute.
    `ALTER TABLE webhooks ADD COLUMN pinged_at ${dialect.text} NOT NULL DEFAULT '[]'`,
    ...(dialect.name === 'postgres' ? notifications : []),
  ],
};

const STATES = "state IN ('waiting', 'sending', 'retrying', 'delivered', 'failed', 'withheld')";

/** SQLite can't change a table's check. Nothing refers to deliveries, so they can move to a new table. */
function rebuildDeliveries({ text, table }: Dialect): string[] {
  return [
    'DROP INDEX deliveries_waiting',
    'ALTER TABLE deliveries RENAME TO deliveries_before',
    `CREATE TABLE deliveries (
      company ${text} NOT NULL,
      webhook ${text} NOT NULL,
      id ${text} NOT NULL,
      event ${text} NOT NULL,
      state ${text} NOT NULL CHECK (${STATES}),
      attempt_count INTEGER NOT NULL DEFAULT 0,
      failure_count INTEGER NOT NULL DEFAULT 0,
      interruption_count INTEGER NOT NULL DEFAULT 0,
      due_at ${text} NOT NULL,
      lease ${text},
      withheld_for ${text},
      PRIMARY KEY (company, webhook, id),
      FOREIGN KEY (company, webhook) REFERENCES webhooks (company, id)
    ) ${table}, WITHOUT ROWID`,
    `INSERT INTO deliveries (company, webhook, id, event, state, attempt_count, due_at)
      SELECT company, webhook, id, event, state, attempt_count, due_at FROM deliveries_before`,
    'DROP TABLE deliveries_before',
    "CREATE INDEX deliveries_waiting ON deliveries (company, webhook, due_at) WHERE state = 'waiting'",
  ];
}

function alterDeliveries({ text }: Dialect): string[] {
  return [
    `ALTER TABLE deliveries
      DROP CONSTRAINT deliveries_state_check,
      ADD CONSTRAINT deliveries_state_check CHECK (${STATES}),
      ADD COLUMN failure_count INTEGER NOT NULL DEFAULT 0,
      ADD COLUMN interruption_count INTEGER NOT NULL DEFAULT 0,
      ADD COLUMN lease ${text},
      ADD COLUMN withheld_for ${text}`,
    // Each delivery leaves dead entries in the indexes that are walked; a fifth of a large table is too late for them.
    'ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.01)',
  ];
}

const deliveryIndexes = [
  // What a clock brings forward: retries, and leases that run out.
  "CREATE INDEX deliveries_timed ON deliveries (due_at) WHERE state IN ('sending', 'retrying')",
  // What is sent again together after an outage of the receiver.
  "CREATE INDEX deliveries_unsent ON deliveries (company, webhook, id) WHERE state IN ('failed', 'withheld')",
  // Whether an event may go. Ids grow with time, so new entries come at the end, next to each other.
  'CREATE INDEX deliveries_of_event ON deliveries (event)',
];

function attemptsTable({ name, text, table }: Dialect): string {
  return `CREATE TABLE delivery_attempts (
    company ${text} NOT NULL,
    webhook ${text} NOT NULL,
    delivery ${text} NOT NULL,
    number INTEGER NOT NULL,
    attempted_at ${text} NOT NULL,
    status INTEGER,
    error ${text},
    dns_ms INTEGER,
    connect_ms INTEGER,
    tls_ms INTEGER,
    first_byte_ms INTEGER,
    total_ms INTEGER NOT NULL,
    next_attempt_at ${text},
    PRIMARY KEY (company, webhook, delivery, number),
    CHECK ((status IS NULL) <> (error IS NULL))
  ) ${name === 'sqlite' ? `${table}, WITHOUT ROWID` : table}`;
}

/** Workers on other machines hear of new deliveries in the moment in which these are committed. */
const notifications = [
  `CREATE FUNCTION notify_deliveries() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NOTIFY fieldledger_deliveries; RETURN NULL; END $$`,
  `CREATE TRIGGER deliveries_notify AFTER INSERT ON deliveries
    FOR EACH STATEMENT EXECUTE FUNCTION notify_deliveries()`,
];
