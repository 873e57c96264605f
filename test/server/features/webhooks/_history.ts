import type { Engine } from '../../../../src/server/store/engines/engine.ts';

/** A history to make: deliveries evenly spread over the time before a moment. */
export interface HistoryOptions {
  company: string;
  webhooks: readonly string[];
  /** Deliveries of each webhook, of as many events. */
  count: number;
  until: Date;
  days?: number;
  /** Each so many-th event is of the second kind; the others are of the first. */
  kinds?: readonly [often: string, rarely: string];
  rarelyEvery?: number;
  failedEvery?: number;
  /** Each so many-th was answered with 503 before it was delivered. */
  retriedEvery?: number;
}

const DAY_MS = 86_400_000;
/** Rows of one INSERT. */
const ROWS_MAX = 50_000;

/** Adds a history to webhooks that are there, by the database itself: there may be a million rows of it. */
export async function addHistory(engine: Engine, options: HistoryOptions): Promise<void> {
  for (let first = 0; first < options.count; first += ROWS_MAX) {
    const last = Math.min(first + ROWS_MAX, options.count) - 1;
    for (const statement of statementsOf(engine, options, { first, last })) await engine.run(statement);
  }
  await engine.run(countStatement(options));
}

function statementsOf(
  { dialect: { name } }: Engine,
  options: HistoryOptions,
  { first, last }: { first: number; last: number },
): string[] {
  const { company, webhooks, count, until, days = 30 } = options;
  const [often, rarely] = options.kinds ?? ['job.updated', 'quote.accepted'];
  const { rarelyEvery = 1_000, failedEvery = 500, retriedEvery = 50 } = options;
  // Half a step before the end, so that nothing lies in the future.
  const stepMs = Math.floor((days * DAY_MS) / count);
  const beginMs = until.getTime() - count * stepMs + Math.floor(stepMs / 2);
  const numbers = `WITH RECURSIVE g (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM g WHERE n < ${last}),
    m AS (SELECT n, ${beginMs} + CAST(n AS BIGINT) * ${stepMs} AS ms FROM g),
    h AS (SELECT n, ms, ${name === 'sqlite' ? "printf('%012x', ms)" : "lpad(to_hex(ms), 12, '0')"} AS hex FROM m)`;
  const tail = name === 'sqlite' ? "printf('%012d', n)" : "lpad(CAST(n AS TEXT), 12, '0')";
  const uuid = `substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7000-8000-' || ${tail}`;
  const at = (ms: string) =>
    name === 'sqlite'
      ? `strftime('%Y-%m-%dT%H:%M:%S', (${ms}) / 1000, 'unixepoch') || printf('.%03dZ', (${ms}) % 1000)`
      : `to_char(to_timestamp((${ms}) / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const failed = `n % ${failedEvery} = 1`;
  const retried = `n % ${retriedEvery} = 2`;
  const data = `'{"id":"job_' || n || '","title":"Boiler service"}'`;
  const events = `${numbers} INSERT INTO events (id, company, kind, created_at, data)
    SELECT 'evt_' || ${uuid}, '${company}', CASE WHEN n % ${rarelyEvery} = 3 THEN '${rarely}' ELSE '${often}' END,
      ${at('ms')}, ${name === 'sqlite' ? data : `CAST(${data} AS JSON)`} FROM h`;
  const ofWebhooks = webhooks.flatMap((webhook) => {
    const key = `'${company}', '${webhook}', 'dlv_' || ${uuid}`;
    return [
      `${numbers} INSERT INTO deliveries (company, webhook, id, event, state, attempt_count, failure_count, due_at)
        SELECT ${key}, 'evt_' || ${uuid}, CASE WHEN ${failed} THEN 'failed' ELSE 'delivered' END,
          CASE WHEN ${retried} THEN 2 ELSE 1 END, CASE WHEN ${retried} THEN 1 ELSE 0 END, ${at('ms')} FROM h`,
      `${numbers} INSERT INTO delivery_attempts (company, webhook, delivery, number, attempted_at, status, error,
          dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms, next_attempt_at)
        SELECT ${key}, 1, ${at('ms + 12')}, CASE WHEN ${failed} THEN NULL WHEN ${retried} THEN 503 ELSE 204 END,
          CASE WHEN ${failed} THEN 'timeout' END, 3, 11, 24, CASE WHEN ${failed} THEN NULL ELSE 41 END,
          CASE WHEN ${failed} THEN 10000 ELSE 79 END, CASE WHEN ${retried} THEN ${at('ms + 61000')} END FROM h`,
      `${numbers} INSERT INTO delivery_attempts (company, webhook, delivery, number, attempted_at, status,
          first_byte_ms, total_ms)
        SELECT ${key}, 2, ${at('ms + 61012')}, 200, 38, 38 FROM h WHERE ${retried}`,
    ];
  });
  return [events, ...ofWebhooks];
}

/** Counts the attempts of webhooks by the hour, as whoever keeps attempts does. */
function countStatement({ company, webhooks }: HistoryOptions): string {
  const counted = webhooks.map((webhook) => `'${webhook}'`).join(', ');
  const isDelivered = 'COALESCE(status, 0) BETWEEN 200 AND 299';
  return `INSERT INTO webhook_hours
    SELECT company, webhook, substr(attempted_at, 1, 13), SUM(CASE WHEN ${isDelivered} THEN 1 ELSE 0 END),
      SUM(CASE WHEN ${isDelivered} THEN 0 ELSE 1 END), MAX(CASE WHEN ${isDelivered} THEN attempted_at ELSE '' END),
      MAX(CASE WHEN ${isDelivered} THEN ''
        ELSE attempted_at || ' ' || COALESCE(error, CAST(status AS TEXT)) || ' ' || delivery END)
    FROM delivery_attempts WHERE company = '${company}' AND webhook IN (${counted}) GROUP BY company, webhook, substr(attempted_at, 1, 13)`;
}
