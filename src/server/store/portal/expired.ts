import { sql } from 'kysely';

import type { StoreTransaction } from '../engines/engine.ts';

const EXPIRED_AT_ONCE = 100;

/** Removes some of the sessions or links that have ended, the oldest first. */
export async function removeExpired(
  transaction: StoreTransaction,
  name: 'portal_links' | 'portal_sessions',
  now: string,
): Promise<void> {
  const table = sql.table(name);
  await sql`DELETE FROM ${table} WHERE token_sha256 IN (
    SELECT token_sha256 FROM ${table} WHERE expires_at <= ${now}
    ORDER BY expires_at LIMIT ${EXPIRED_AT_ONCE})`.execute(transaction);
}
