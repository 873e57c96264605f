import { type Selectable, sql } from 'kysely';

import { quote, UsageError } from '../../../errors.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import type { Engine } from '../../store/engines/engine.ts';
import type { Access } from '../../access/checked-input.ts';
import { getCompany } from '../../store/records/companies.ts';
import { feedTokens } from '../../store/tables/keys.ts';
import { readRow, type RowOf, writeRow } from '../../store/tables/table.ts';
import type { Tables } from '../../store/tables/tables.ts';

/** A token with which a business system sends changes over HTTP, without its secret. */
export type FeedToken = Omit<RowOf<typeof feedTokens>, 'forAllCompanies'> & {
  /** The companies whose changes the token may send; null for all companies. */
  companies: string[] | null;
};

/** Returns the widest access that a token's portal links may give. */
export function linkAccessOf({ portalScopes: scopes, portalMayInvite: mayInvite }: FeedToken): Access {
  return { scopes, mayInvite };
}

/** Inserts a feed token. @throws UsageError when one of its companies doesn't exist. */
export async function insertFeedToken(
  engine: Engine,
  { companies, ...token }: FeedToken,
  secretSha256: string,
): Promise<void> {
  await engine.transaction(async (transaction) => {
    for (const company of companies ?? []) await getCompany({ db: transaction }, company);
    await transaction
      .insertInto('feed_tokens')
      .values({
        ...writeRow(feedTokens, { ...token, forAllCompanies: companies === null }),
        secret_sha256: secretSha256,
      })
      .execute();
    for (const company of companies ?? [])
      await transaction.insertInto('feed_token_companies').values({ company, token: token.id }).execute();
  });
}

export async function listFeedTokens(engine: Engine): Promise<FeedToken[]> {
  const rows = await engine.db
    .selectFrom('feed_tokens')
    .selectAll()
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  const found = await engine.db.selectFrom('feed_token_companies').selectAll().orderBy('company').execute();
  const companiesOf = Map.groupBy(found, ({ token }) => token);
  return rows.map((row) => toToken(row, companiesOf.get(row.id) ?? []));
}

/** Finds a feed token by id, with the digest of its secret; undefined if there is none. */
export async function findFeedToken(
  db: Connection,
  id: string,
): Promise<{ token: FeedToken; secretSha256: string } | undefined> {
  const row = await db.selectFrom('feed_tokens').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row) return undefined;
  const companies = await db
    .selectFrom('feed_token_companies')
    .selectAll()
    .where('token', '=', id)
    .orderBy('company')
    .execute();
  return { token: toToken(row, companies), secretSha256: row.secret_sha256 };
}

/**
 * Revokes a feed token, which stops working at once, even in the middle of a batch.
 * @throws UsageError when there is no such token.
 */
export async function revokeFeedToken(engine: Engine, id: string, now: Date): Promise<void> {
  const revoked = await engine.write(
    sql`UPDATE feed_tokens SET revoked_at = COALESCE(revoked_at, ${now.toISOString()}) WHERE id = ${id} RETURNING id`,
  );
  if (revoked.length === 0) throw new UsageError(`There is no feed token ${quote(id)}.`);
}

export async function noteFeedTokenUse(engine: Engine, id: string, at: string): Promise<void> {
  await engine.write(sql`UPDATE feed_tokens SET used_at = ${at} WHERE id = ${id}`);
}

function toToken(
  row: Selectable<Tables['feed_tokens']>,
  companies: readonly { company: string }[],
): FeedToken {
  const { forAllCompanies, ...token } = readRow(feedTokens, row);
  return { ...token, companies: forAllCompanies ? null : companies.map(({ company }) => company) };
}
