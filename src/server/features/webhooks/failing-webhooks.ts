import { sql } from 'kysely';

import type { Engine } from '../../store/engines/engine.ts';
import { ofAllCompanies } from '../../store/machines.ts';

/**
 * Whether a row `w` of webhooks fails: an attempt has failed, and nothing was delivered since. The portal asks the same of a
 * webhook that it has read (features/webhooks/health-view.ts).
 */
export const isFailing = sql<boolean>`w.failing_since IS NOT NULL AND w.paused_at IS NULL AND w.deleted_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM webhook_hours AS h WHERE h.company = w.company AND h.webhook = w.id
    AND h.hour >= substr(w.failing_since, 1, 13) AND h.last_delivered_at > w.failing_since)`;

/** Counts the webhooks of all companies that fail. */
export async function countFailing(engine: Engine): Promise<number> {
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<{ count: number | string }>`
      SELECT COUNT(*) AS count FROM webhooks AS w WHERE ${isFailing} AND ${isReached('w.company')}`,
  );
  return rows.reduce((sum, { count }) => sum + Number(count), 0);
}
