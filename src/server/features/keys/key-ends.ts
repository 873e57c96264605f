import { sql } from 'kysely';

import { DAY_MS } from '../../../contract/durations.ts';
import { addNotice } from '../../store/accounts/notice-rows.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { byCompany, ofAllCompanies, resultsOf } from '../../store/machines.ts';
import { keyExpiryDay } from './keys.ts';
import type { ApiKey } from './stored-keys.ts';

/** Days before a key's end from which people are told of it. */
export const ENDING_DAYS = 7;
/** Maximum number of keys handled in one run; the rest wait for the next. */
const KEYS_MAX = 500;

type EndingKey = Pick<ApiKey, 'company' | 'id' | 'name'> & { endsAt: string; timeZone: string };

/**
 * Tells people of active keys that end within a week, once for each last day: the ids of the notices are made of key and
 * day. If several processes look at once, only one tells.
 */
export async function tellKeyEnds(engine: Engine, now: Date): Promise<void> {
  const soon = new Date(now.getTime() + ENDING_DAYS * DAY_MS).toISOString();
  const once = sql`'key-' || k.id || '-' || substr(k.ends_at, 1, 10) || '-'`;
  const keys = await ofAllCompanies(
    engine,
    (isReached) => sql<EndingKey>`
      SELECT k.company, k.id, k.name, k.ends_at AS "endsAt", c.time_zone AS "timeZone"
      FROM api_keys AS k JOIN companies AS c ON c.id = k.company
      WHERE k.revoked_at IS NULL AND k.ends_at > ${now.toISOString()} AND k.ends_at <= ${soon}
        AND ${isReached('k.company')} AND ${isReached('c.id')}
        AND EXISTS (SELECT 1 FROM administrators AS a
          WHERE a.company = k.company AND a.disabled_at IS NULL AND ${isReached('a.company')})
        AND NOT EXISTS (SELECT 1 FROM notices AS n
          WHERE n.company = k.company AND n.id >= ${once} AND n.id < ${once} || 'z' AND ${isReached('n.company')})
      LIMIT ${sql.lit(KEYS_MAX)}`,
  );
  const done = await byCompany(engine, keys, async (some) => {
    for (const key of some) await tellKeyEnd(engine, key, now);
  });
  resultsOf(done);
}

async function tellKeyEnd(
  engine: Engine,
  { company, id, name, endsAt, timeZone }: EndingKey,
  now: Date,
): Promise<void> {
  await engine.transaction(async (transaction) =>
    addNotice(transaction, {
      ...{ company, kind: 'key.ending', now, once: `key-${id}-${endsAt.slice(0, 'YYYY-MM-DD'.length)}` },
      details: { name, 'key id': id, 'last day': keyExpiryDay({ endsAt }, timeZone) ?? '' },
    }),
  );
}
