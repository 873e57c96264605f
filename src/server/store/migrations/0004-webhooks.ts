import { type Dialect, keyedTable, type Migration } from './migration.ts';

/** Webhooks, events with a delivery for each webhook that wants them, and the attempts to make these. */
export const webhooks: Migration = {
  name: '0004-webhooks',
  statements: (dialect) => [
    ...webhookTables(dialect),
    eventsTable(dialect),
    // A rare kind among many others, for the filters of the history.
    'CREATE INDEX events_of_kind ON events (company, kind, id)',
    deliveriesTable(dialect),
    ...deliveryIndexes,
    attemptsTable(dialect),
    hoursTable(dialect),
    ...(dialect.name === 'sqlite' ? sqliteTriggers : postgresTriggers),
    ...(dialect.name === 'sqlite' ? [] : postgresStorage),
  ],
};

function webhookTables({ text, table }: Dialect): string[] {
  return [
    `CREATE TABLE webhooks (
      company ${text} NOT NULL REFERENCES companies (id),
      id ${text} NOT NULL,
      url ${text} NOT NULL,
      events ${text} NOT NULL,
      secret ${text} NOT NULL,
      created_at ${text} NOT NULL,
      made_by ${text},
      paused_at ${text},
      -- A webhook that was deleted is gone for everyone at once; its row goes when the last of its deliveries has.
      deleted_at ${text},
      -- JSON array: when the latest pings were asked for, of which there may be some a minute.
      pinged_at ${text} NOT NULL DEFAULT '[]',
      PRIMARY KEY (company, id)
    ) ${table}`,
    // Few of many, which are looked for every minute and at every walk.
    'CREATE INDEX webhooks_deleted ON webhooks (company, id) WHERE deleted_at IS NOT NULL',
    'CREATE INDEX webhooks_paused ON webhooks (company, id) WHERE paused_at IS NOT NULL',
  ];
}

function eventsTable({ text, json, table }: Dialect): string {
  return `CREATE TABLE events (
    id ${text} NOT NULL PRIMARY KEY,
    company ${text} NOT NULL REFERENCES companies (id),
    kind ${text} NOT NULL,
    created_at ${text} NOT NULL,
    data ${json} NOT NULL
  ) ${table}`;
}

/**
 * A delivery is `waiting` while it may be sent as soon as a slot is free, `sending` while a worker holds a lease on it
 * until `due_at`, and `retrying` until its next attempt is due. It ends as `delivered` or `failed`, or is `withheld`
 * when it was due while the company could not be sent it.
 *
 * The key is what lists walk. In SQLite it is the table itself: an event goes to ten webhooks, and each further tree is
 * ten more pages to write. Events and their deliveries go at the same age, so none refers to the other.
 */
function deliveriesTable(dialect: Dialect): string {
  const { text } = dialect;
  return `CREATE TABLE deliveries (
    company ${text} NOT NULL,
    webhook ${text} NOT NULL,
    id ${text} NOT NULL,
    event ${text} NOT NULL,
    state ${text} NOT NULL
      CHECK (state IN ('waiting', 'sending', 'retrying', 'delivered', 'failed', 'withheld')),
    attempt_count INTEGER NOT NULL DEFAULT 0,
    failure_count INTEGER NOT NULL DEFAULT 0,
    interruption_count INTEGER NOT NULL DEFAULT 0,
    due_at ${text} NOT NULL,
    lease ${text},
    withheld_for ${text},
    PRIMARY KEY (company, webhook, id),
    FOREIGN KEY (company, webhook) REFERENCES webhooks (company, id)
  ) ${keyedTable(dialect)}`;
}

const deliveryIndexes = [
  "CREATE INDEX deliveries_waiting ON deliveries (company, webhook, due_at) WHERE state = 'waiting'",
  // Deliveries that a clock brings forward: retries, and leases that run out.
  "CREATE INDEX deliveries_timed ON deliveries (due_at) WHERE state IN ('sending', 'retrying')",
  // Deliveries that are sent again together after an outage of the receiver.
  "CREATE INDEX deliveries_unsent ON deliveries (company, webhook, id) WHERE state IN ('failed', 'withheld')",
  // Retries, in the order of the history. With waiting deliveries in it, each step of each delivery would write to it.
  "CREATE INDEX deliveries_retrying ON deliveries (company, webhook, id) WHERE state = 'retrying'",
  // Whether an event may go. Ids grow with time, so new entries come at the end, next to each other.
  'CREATE INDEX deliveries_of_event ON deliveries (event)',
];

function attemptsTable(dialect: Dialect): string {
  const { text } = dialect;
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
  ) ${keyedTable(dialect)}`;
}

/**
 * The attempts of each hour, from which the portal tells how a webhook is doing, however many deliveries it has. Triggers
 * count them as they are kept, so that no writer can forget to. On PostgreSQL one statement may bring attempts of many
 * webhooks, and several workers write at once: they lock the counts in the order of their keys, so that none waits for
 * another in a circle.
 *
 * `hour` is `YYYY-MM-DDTHH` in UTC. `last_failure` is the time, the class of error or the status, and the delivery, one
 * space between them, so that the greatest text is the latest; an empty text stands for none, as in `last_delivered_at`.
 */
function hoursTable(dialect: Dialect): string {
  const { text } = dialect;
  return `CREATE TABLE webhook_hours (
    company ${text} NOT NULL,
    webhook ${text} NOT NULL,
    hour ${text} NOT NULL,
    delivered_count INTEGER NOT NULL,
    failed_count INTEGER NOT NULL,
    last_delivered_at ${text} NOT NULL,
    last_failure ${text} NOT NULL,
    PRIMARY KEY (company, webhook, hour)
  ) ${keyedTable(dialect)}`;
}

const COLUMNS = 'company, webhook, hour, delivered_count, failed_count, last_delivered_at, last_failure';
/** Whether an attempt was answered with 2xx, under whatever name its row has. */
const isDelivered = (row: string) => `COALESCE(${row}.status, 0) BETWEEN 200 AND 299`;

/** Attempts added up by webhook and hour. */
function countsOf(attempts: string): string {
  const delivered = isDelivered(attempts);
  return `SELECT company, webhook, substr(attempted_at, 1, 13),
      SUM(CASE WHEN ${delivered} THEN 1 ELSE 0 END),
      SUM(CASE WHEN ${delivered} THEN 0 ELSE 1 END),
      MAX(CASE WHEN ${delivered} THEN attempted_at ELSE '' END),
      MAX(CASE WHEN ${delivered} THEN ''
        ELSE attempted_at || ' ' || COALESCE(error, CAST(status AS TEXT)) || ' ' || delivery END)
    FROM ${attempts}
    GROUP BY company, webhook, substr(attempted_at, 1, 13)`;
}

/** Adds counts to those of the same hour; `greatest` is what an engine calls the greater of two texts. */
const addUp = (greatest: string) => `ON CONFLICT (company, webhook, hour) DO UPDATE SET
  delivered_count = webhook_hours.delivered_count + excluded.delivered_count,
  failed_count = webhook_hours.failed_count + excluded.failed_count,
  last_delivered_at = ${greatest}(webhook_hours.last_delivered_at, excluded.last_delivered_at),
  last_failure = ${greatest}(webhook_hours.last_failure, excluded.last_failure)`;

/** With each new hour of a webhook goes what is older than its history. */
const KEPT_DAYS = 32;

const sqliteTriggers = [
  `CREATE TRIGGER delivery_attempts_count AFTER INSERT ON delivery_attempts BEGIN
    INSERT INTO webhook_hours (${COLUMNS})
    SELECT NEW.company, NEW.webhook, substr(NEW.attempted_at, 1, 13),
      ${isDelivered('NEW')},
      NOT (${isDelivered('NEW')}),
      CASE WHEN ${isDelivered('NEW')} THEN NEW.attempted_at ELSE '' END,
      CASE WHEN ${isDelivered('NEW')} THEN ''
        ELSE NEW.attempted_at || ' ' || COALESCE(NEW.error, NEW.status) || ' ' || NEW.delivery END
    WHERE TRUE
    ${addUp('MAX')};
  END`,
  `CREATE TRIGGER webhook_hours_old AFTER INSERT ON webhook_hours BEGIN
    DELETE FROM webhook_hours WHERE company = NEW.company AND webhook = NEW.webhook
      AND hour < strftime('%Y-%m-%dT%H', NEW.hour || ':00', '-${KEPT_DAYS} days');
  END`,
  `CREATE TRIGGER webhooks_hours AFTER DELETE ON webhooks BEGIN
    DELETE FROM webhook_hours WHERE company = OLD.company AND webhook = OLD.id;
  END`,
];

const postgresTriggers = [
  `CREATE FUNCTION count_attempts() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN
      INSERT INTO webhook_hours (${COLUMNS}) ${countsOf('added')} ORDER BY 1, 2, 3 ${addUp('GREATEST')};
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER delivery_attempts_count AFTER INSERT ON delivery_attempts
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_attempts()`,
  `CREATE FUNCTION forget_old_hours() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN
      DELETE FROM webhook_hours WHERE company = NEW.company AND webhook = NEW.webhook
        AND hour < to_char(CAST(NEW.hour || ':00' AS TIMESTAMP) - INTERVAL '${KEPT_DAYS} days', 'YYYY-MM-DD"T"HH24');
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER webhook_hours_old AFTER INSERT ON webhook_hours
    FOR EACH ROW EXECUTE FUNCTION forget_old_hours()`,
  `CREATE FUNCTION forget_hours() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN
      DELETE FROM webhook_hours WHERE company = OLD.company AND webhook = OLD.id;
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER webhooks_hours AFTER DELETE ON webhooks
    FOR EACH ROW EXECUTE FUNCTION forget_hours()`,
  // Workers on other machines hear of new deliveries in the moment in which these are committed.
  `CREATE FUNCTION notify_deliveries() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NOTIFY fieldledger_deliveries; RETURN NULL; END $$`,
  `CREATE TRIGGER deliveries_notify AFTER INSERT ON deliveries
    FOR EACH STATEMENT EXECUTE FUNCTION notify_deliveries()`,
];

const postgresStorage = [
  // A count that changes many times an hour leaves as many dead rows, which find room beside the live one.
  'ALTER TABLE webhook_hours SET (fillfactor = 50)',
  // Each delivery leaves dead entries in the indexes that are walked; a fifth of a large table is too late for them.
  'ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.01)',
];
