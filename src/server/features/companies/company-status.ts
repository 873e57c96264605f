import { sql } from 'kysely';

import { DAY_MS } from '../../../contract/durations.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { isFailing } from '../webhooks/stored-webhooks.ts';
import { ofAllCompanies } from '../../store/machines.ts';

/** The state of a company, as an operator looks at all of them. */
export interface CompanyStatus {
  id: string;
  name: string;
  /** The time when its feed last changed something; null for never. */
  lastChangeAt: string | null;
  /** Webhooks to which nothing was delivered since an attempt failed. */
  failingWebhooks: number;
  /** Deliveries that wait to be sent, counted up to 10,000. */
  dueDeliveries: number;
  /** Keys that the rate limit refused something, in the last 24 hours. */
  limitedKeys: number;
}

/** The status of every company that is reached, in the order of their ids. */
export async function listCompanyStatus(engine: Engine, now: Date): Promise<CompanyStatus[]> {
  const since = new Date(now.getTime() - DAY_MS).toISOString();
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<Record<string, string | number | null>>`
      SELECT c.id, c.name, k.last_stamp_ms,
        (SELECT COUNT(*) FROM webhooks AS w WHERE w.company = c.id AND ${isFailing()} AND ${isReached('w.company')}) AS failing,
        (SELECT COUNT(*) FROM (
          SELECT 1 FROM deliveries AS d WHERE d.company = c.id AND d.state = 'waiting' AND ${isReached('d.company')} LIMIT 10000
        ) AS due) AS due,
        (SELECT COUNT(DISTINCT h.key_id) FROM key_hours AS h
          WHERE h.company = c.id AND h.hour >= ${since} AND h.limited > 0 AND ${isReached('h.company')}) AS limited
      FROM companies AS c LEFT JOIN company_clocks AS k ON k.company = c.id AND ${isReached('k.company')}
      WHERE ${isReached('c.id')}`,
  );
  return rows.sort(byId).map((row) => ({
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

/** The times when the companies that are served last changed, of the first 1,000 that ever did. */
export async function listLastChanges(engine: Engine): Promise<[company: string, atMs: number][]> {
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<{ id: string; stamp: string | number }>`
      SELECT c.id, k.last_stamp_ms AS stamp FROM companies AS c JOIN company_clocks AS k ON k.company = c.id AND ${isReached('k.company')}
      WHERE c.api_enabled = 1 AND c.subscription_active = 1 AND k.last_stamp_ms > 0 AND ${isReached('c.id')}
      ORDER BY c.id LIMIT ${sql.lit(LABELS_MAX)}`,
  );
  return rows
    .sort(byId)
    .slice(0, LABELS_MAX)
    .map(({ id, stamp }) => [id, Number(stamp)]);
}

/** The time when a change of each source was last applied, for whichever company; of the first 1,000 sources. */
export async function listLastOfSources(engine: Engine): Promise<[source: string, atMs: number][]> {
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<{ source: string; at: string }>`
      SELECT source, MAX(applied_at) AS at FROM feed_positions WHERE ${isReached('company')}
      GROUP BY source ORDER BY source LIMIT ${sql.lit(LABELS_MAX)}`,
  );
  // A source may feed companies on several machines.
  const latest = new Map(
    rows.sort((one, other) => (one.at < other.at ? -1 : 1)).map(({ source, at }) => [source, Date.parse(at)]),
  );
  return [...latest].slice(0, LABELS_MAX);
}

const byId = (one: { id?: unknown }, other: { id?: unknown }) => (String(one.id) < String(other.id) ? -1 : 1);
