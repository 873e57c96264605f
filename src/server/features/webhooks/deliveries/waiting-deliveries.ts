import { type RawBuilder, sql } from 'kysely';

import { chosenText, type DeliveryKey, rowsOf, type WebhookRef, webhookText } from './delivery-keys.ts';
import type { Engine } from '../../../store/engines/engine.ts';
import { boundTo, byCompany, ofAllCompanies, resultsOf } from '../../../store/machines.ts';

/** A delivery that may be sent now. */
export interface WaitingDelivery extends DeliveryKey {
  dueAt: string;
}

/** The result of `findWaiting`. */
export interface WaitingFound {
  /** Deliveries in webhook order; within each webhook, those that have waited longest come first. */
  found: WaitingDelivery[];
  /** The last webhook scanned; undefined when the scan reached the end. */
  last: WebhookRef | undefined;
}

export interface WaitingSearch {
  /** The webhook after which the scan begins; two empty strings to begin with the first. */
  after: WebhookRef;
  webhooksMax: number;
  perWebhook: number;
  busy: readonly WebhookRef[];
  /** Companies that are skipped with all their webhooks. */
  busyCompanies: readonly string[];
}

/**
 * Finds waiting deliveries, webhook by webhook, except for webhooks that are held. It reads at most `perWebhook` of each, so
 * that one webhook's backlog can't starve the others.
 * @param unreadable fingerprints of missing keys: webhooks whose secrets are sealed with them are held, as if paused.
 */
export async function findWaiting(
  engine: Engine,
  { busy, busyCompanies, ...options }: WaitingSearch,
  unreadable: readonly string[] = [],
): Promise<WaitingFound> {
  const values = {
    ...options.after,
    ...options,
    busy: JSON.stringify(busy.map(webhookText)),
    busyCompanies: JSON.stringify(busyCompanies),
    isHeld: isHeldBy(unreadable),
  };
  const { db, dialect } = engine;
  if (await engine.isDistributed()) return findOnMachines(engine, values);
  const scan = dialect.hasLateral ? waitingByLateral : waitingBySubqueries;
  const { rows } = await scan(values).execute(db);
  const end = rows.at(-1);
  return {
    found: rows.flatMap(({ company, webhook, id, due_at }) =>
      id === null || due_at === null ? [] : [{ company, webhook, id, dueAt: due_at }],
    ),
    last: end?.step === options.webhooksMax ? { company: end.company, webhook: end.webhook } : undefined,
  };
}

/**
 * Does the work of `findWaiting` when companies are spread over several machines, which can't scan from company to company.
 * It lists the webhooks that have waiting deliveries first, then the deliveries of each company.
 */
async function findOnMachines(engine: Engine, values: WaitingValues): Promise<WaitingFound> {
  const { company, webhook, webhooksMax, perWebhook, busy, busyCompanies, isHeld } = values;
  const listed = await ofAllCompanies(
    engine,
    (isReached) => sql<WebhookRef>`
      SELECT w.company, w.id AS webhook FROM webhooks AS w
      WHERE (w.company, w.id) > (${company}, ${webhook}) AND ${isReached('w.company')} AND NOT ${isHeld}
        AND w.company NOT IN ${textsIn(busyCompanies)} AND w.company || ' ' || w.id NOT IN ${textsIn(busy)}
        AND EXISTS (
          SELECT 1 FROM deliveries AS d WHERE d.company = w.company AND d.webhook = w.id AND d.state = 'waiting'
            AND ${isReached('d.company')})
      ORDER BY w.company, w.id LIMIT ${webhooksMax}`,
  );
  const sorted = listed.toSorted((one, other) => (webhookText(one) < webhookText(other) ? -1 : 1));
  const webhooks = sorted.slice(0, webhooksMax);
  const done = await byCompany(engine, webhooks, async (some, ofCompany) => {
    const { rows } = await sql<WaitingDelivery>`
      SELECT taken.* FROM ${engine.dialect.chosenIn(rowsOf(some.map((key) => [key.company, key.webhook])))}
      CROSS JOIN LATERAL (
        SELECT d.company, d.webhook, d.id, d.due_at AS "dueAt" FROM deliveries AS d
        WHERE ${boundTo(ofCompany, 'd.company')} AND d.webhook = ${chosenText(1)} AND d.state = 'waiting'
        ORDER BY d.due_at LIMIT ${perWebhook}
      ) AS taken`.execute(engine.db);
    return rows;
  });
  return {
    found: resultsOf(done).flat(),
    last: webhooks.length === webhooksMax ? webhooks.at(-1) : undefined,
  };
}

/** Builds a subquery of the strings in a JSON array. */
const textsIn = (text: string) =>
  sql`(SELECT value FROM json_array_elements_text(CAST(${text} AS JSON)) AS listed (value))`;

/** Whether webhook `w` is paused or its secret sealed with one of these keys; ../../../process/secret-box.ts has the form. */
function isHeldBy(unreadable: readonly string[]): RawBuilder<boolean> {
  const isPaused = sql<boolean>`w.paused_at IS NOT NULL`;
  if (unreadable.length === 0) return isPaused;
  const seals = unreadable.map((fingerprint) => sql.lit(`sealed1.${fingerprint}`));
  return sql`(${isPaused} OR substr(w.secret, 1, 16) IN (${sql.join(seals)}))`;
}

/** The values of a scan in SQL. `busy` and `busyCompanies`, which it skips, are JSON arrays. */
interface WaitingValues extends WebhookRef {
  webhooksMax: number;
  perWebhook: number;
  busy: string;
  busyCompanies: string;
  /** The condition under which a webhook `w` is held. */
  isHeld: RawBuilder<boolean>;
}

/** A scanned webhook with one of its deliveries, or with nulls if it has none to send. */
interface WaitingRow {
  step: number;
  company: string;
  webhook: string;
  id: string | null;
  due_at: string | null;
}

/**
 * A string greater than every time. Together with a webhook's key it sorts after all the webhook's index entries. From the
 * key alone, SQLite would read all these entries on its way to the next webhook.
 */
const NEVER = sql.lit('~');

/** Condition that skips all deliveries of a held webhook at once. */
const isNotHeld = (
  company: RawBuilder<unknown>,
  webhook: RawBuilder<unknown>,
  isHeld: RawBuilder<boolean>,
) => sql<boolean>`
  NOT EXISTS (SELECT 1 FROM webhooks AS w WHERE w.company = ${company} AND w.id = ${webhook} AND ${isHeld})`;

/** Selects the next webhook that has waiting deliveries, after the given key. */
const nextAfter = (
  selected: RawBuilder<unknown>,
  company: RawBuilder<unknown>,
  webhook: RawBuilder<unknown>,
) => sql`
  (SELECT ${selected} FROM deliveries AS d
    WHERE d.state = 'waiting' AND (d.company, d.webhook, d.due_at) > (${company}, ${webhook}, ${NEVER})
    ORDER BY d.company, d.webhook LIMIT 1)`;

/** Builds the scan for SQLite, where a subquery yields one value, so the next webhook's key comes as a JSON array. */
function waitingBySubqueries(values: WaitingValues): RawBuilder<WaitingRow> {
  const { company, webhook, webhooksMax, perWebhook, busy, busyCompanies, isHeld } = values;
  const key = sql`json_array(d.company, d.webhook)`;
  const [ofCompany, ofWebhook] = [sql`(spot ->> 0)`, sql`(spot ->> 1)`];
  return sql<WaitingRow>`
    WITH RECURSIVE scan (step, spot) AS (
      SELECT 1, ${nextAfter(key, sql`${company}`, sql`${webhook}`)}
      UNION ALL
      SELECT step + 1, ${nextAfter(key, ofCompany, ofWebhook)} FROM scan
      WHERE spot IS NOT NULL AND step < ${webhooksMax}
    )
    SELECT step, ${ofCompany} AS company, ${ofWebhook} AS webhook, d.id, d.due_at
    FROM scan
    LEFT JOIN deliveries AS d
      ON d.company = ${ofCompany} AND d.webhook = ${ofWebhook}
      AND ${ofCompany} NOT IN (SELECT value FROM json_each(${busyCompanies}))
      AND ${ofCompany} || ' ' || ${ofWebhook} NOT IN (SELECT value FROM json_each(${busy}))
      AND ${isNotHeld(ofCompany, ofWebhook, isHeld)}
      AND d.id IN (
        SELECT first.id FROM deliveries AS first
        WHERE first.company = ${ofCompany} AND first.webhook = ${ofWebhook} AND first.state = 'waiting'
        ORDER BY first.due_at LIMIT ${perWebhook}
      )
    WHERE spot IS NOT NULL
    ORDER BY step, d.due_at`;
}

function waitingByLateral(values: WaitingValues): RawBuilder<WaitingRow> {
  const { company, webhook, webhooksMax, perWebhook, busy, busyCompanies, isHeld } = values;
  const key = sql`d.company, d.webhook`;
  return sql<WaitingRow>`
    WITH RECURSIVE scan (step, company, webhook) AS (
      SELECT 1, begun.company, begun.webhook FROM ${nextAfter(key, sql`${company}`, sql`${webhook}`)} AS begun
      UNION ALL
      SELECT scan.step + 1, following.company, following.webhook
      FROM scan CROSS JOIN LATERAL ${nextAfter(key, sql`scan.company`, sql`scan.webhook`)} AS following
      WHERE scan.step < CAST(${webhooksMax} AS INTEGER)
    )
    SELECT scan.step, scan.company, scan.webhook, taken.id, taken.due_at
    FROM scan
    LEFT JOIN LATERAL (
      SELECT d.id, d.due_at FROM deliveries AS d
      WHERE d.company = scan.company AND d.webhook = scan.webhook AND d.state = 'waiting'
        AND scan.company NOT IN ${textsIn(busyCompanies)}
        AND scan.company || ' ' || scan.webhook NOT IN ${textsIn(busy)}
        AND ${isNotHeld(sql`scan.company`, sql`scan.webhook`, isHeld)}
      ORDER BY d.due_at LIMIT ${perWebhook}
    ) AS taken ON TRUE
    ORDER BY scan.step, taken.due_at`;
}
