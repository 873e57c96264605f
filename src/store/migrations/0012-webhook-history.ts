import type { Dialect, Migration } from '../migrate.ts';

/**
 * What the portal needs to tell how a webhook is doing, however many deliveries it has: the attempts of each hour,
 * counted by the database as they are kept, and indexes for the filters of its history.
 *
 * Triggers count, so that no writer can forget to. On PostgreSQL one statement may bring attempts of many webhooks, and
 * several workers write at once: they lock the counts in the order of their keys, so that none waits for another in a
 * circle.
 */
export const webhookHistory: Migration = {
  name: '0012-webhook-history',
  statements: (dialect) => [
    hoursTable(dialect),
    `INSERT INTO webhook_hours (${COLUMNS}) ${countsOf('delivery_attempts')}`,
    ...(dialect.name === 'sqlite' ? sqliteTriggers : postgresTriggers),
    // What is tried again, in the order of the history. One of what waits too would be written to at every step of
    // every delivery.
    "CREATE INDEX deliveries_retrying ON deliveries (company, webhook, id) WHERE state = 'retrying'",
    // A rare kind among many others.
    'CREATE INDEX events_of_kind ON events (company, kind, id)',
  ],
};

/**
 * `hour` is `YYYY-MM-DDTHH` in UTC. `last_failure` is the time, the class of error or the status, and the delivery, one
 * space between them, so that the greatest text is the latest; an empty text stands for none, as in `last_delivered_at`.
 */
function hoursTable({ name, text, table }: Dialect): string {
  return `CREATE TABLE webhook_hours (
    company ${text} NOT NULL,
    webhook ${text} NOT NULL,
    hour ${text} NOT NULL,
    delivered_count INTEGER NOT NULL,
    failed_count INTEGER NOT NULL,
    last_delivered_at ${text} NOT NULL,
    last_failure ${text} NOT NULL,
    PRIMARY KEY (company, webhook, hour)
  ) ${name === 'sqlite' ? `${table}, WITHOUT ROWID` : table}`;
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
  // A count that changes many times an hour leaves as many dead rows, which find room beside the live one.
  'ALTER TABLE webhook_hours SET (fillfactor = 50)',
];
