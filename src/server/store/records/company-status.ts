import { sql } from 'kysely';

import { DAY_MS } from '../../../contract/durations.ts';
import type { Engine } from '../engines/engine.ts';
import { isFailing } from '../failing-webhooks.ts';

/** How a company is doing, as an operator looks at all of them. */
export interface CompanyStatus {
  id: string;
  name: string;
  /** When its feed last changed something; null for never. */
  lastChangeAt: string | null;
  /** Webhooks to which nothing was delivered since an attempt failed. */
  failingWebhooks: number;
  /** Deliveries that wait to be sent, counted up to 10,000. */
  dueDeliveries: number;
  /** Keys that the rate limit refused something, in the last 24 hours. */
  limitedKeys: number;
}

/** The status of every company, in the order of their ids. */
export async function listCompanyStatus(engine: Engine, now: Date): Promise<CompanyStatus[]> {
  const since = new Date(now.getTime() - DAY_MS).toISOString();
  const { rows } = await sql<Record<string, string | number | null>>`
    SELECT c.id, c.name, k.last_stamp_ms,
      (SELECT COUNT(*) FROM webhooks AS w WHERE w.company = c.id AND ${isFailing}) AS failing,
      (SELECT COUNT(*) FROM (
        SELECT 1 FROM deliveries AS d WHERE d.company = c.id AND d.state = 'waiting' LIMIT 10000
      ) AS due) AS due,
      (SELECT COUNT(DISTINCT h.key_id) FROM key_hours AS h
        WHERE h.company = c.id AND h.hour >= ${since} AND h.limited > 0) AS limited
    FROM companies AS c LEFT JOIN company_clocks AS k ON k.company = c.id ORDER BY c.id`.execute(engine.db);
  return rows.map((row) => ({
    id: String(row.id),
    name: String(row.name),
    lastChangeAt: timeOf(row.last_stamp_ms),
    failingWebhooks: Number(row.failing),
    dueDeliveries: Number(row.due),
    limitedKeys: Number(row.limited),
  }));
}

function timeOf(stampMs: unknown): string | null {
  return Number(stampMs ?? 0) === 0 ? null : new Date(Number(stampMs)).toISOString();
}

/** A metric has a label for each company or source, and so a bound. */
const LABELS_MAX = 1_000;

/** When the companies that are served last changed; of the first 1,000 of them that ever did. */
export async function listLastChanges({ db }: Engine): Promise<[company: string, atMs: number][]> {
  const rows = await db
    .selectFrom('companies')
    .innerJoin('company_clocks', 'company', 'id')
    .select(['company', 'last_stamp_ms'])
    .where('api_enabled', '=', 1)
    .where('subscription_active', '=', 1)
    .where('last_stamp_ms', '>', 0)
    .orderBy('company')
    .limit(LABELS_MAX)
    .execute();
  return rows.map(({ company, last_stamp_ms }) => [company, Number(last_stamp_ms)]);
}

/** When a change of each source was last applied, for whichever company; of the first 1,000 sources. */
export async function listLastOfSources({ db }: Engine): Promise<[source: string, atMs: number][]> {
  const rows = await db
    .selectFrom('feed_positions')
    .select(['source', ({ fn }) => fn.max('applied_at').as('applied_at')])
    .groupBy('source')
    .orderBy('source')
    .limit(LABELS_MAX)
    .execute();
  return rows.map(({ source, applied_at }) => [source, Date.parse(applied_at)]);
}
