import { sql } from 'kysely';

import { DAY_MS } from '../../../contract/durations.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { isFailing } from '../webhooks/stored-webhooks.ts';
import { ofAllCompanies } from '../../store/machines.ts';

/** A company's state, as `fieldledger status` lists it for operators. */
export interface CompanyStatus {
  id: string;
  name: string;
  /** The time of the last change by the company's feed; null if there was none. */
  lastChangeAt: string | null;
  /** Number of webhooks with a failed attempt and no successful delivery since. */
  failingWebhooks: number;
  /** Number of deliveries waiting to be sent, counted up to 10,000. */
  dueDeliveries: number;
  /** Number of keys that exceeded the rate limit in the last 24 hours. */
  limitedKeys: number;
}

/** Lists the status of every company whose database machine can be reached, in the order of their ids. */
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

/** Maximum number of companies or sources in a metric, because each needs a label. */
const LABELS_MAX = 1_000;

/** Lists the time of the last change of each company that the API serves, for at most 1,000 companies. */
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

/** Lists the time when a change from each feed source was last applied, to any company; at most 1,000 sources. */
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
