import type { Selectable } from 'kysely';

import type { Connection } from '../dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import { accountLinks } from '../tables/accounts.ts';
import { readRow, type RowOf, writeRow } from '../tables/table.ts';
import type { Tables } from '../tables/tables.ts';
import type { AccountKey } from './administrator-rows.ts';
import { type HashedToken, isOfToken } from './session-rows.ts';

/** A single-use link that invites an administrator or resets one's password. */
export type PortalLink = Omit<RowOf<typeof accountLinks>, 'name' | 'feedToken'> & {
  /** The name of the person whom a business system invites, and its feed token's id; absent for other links. */
  vouched?: { name: string; feedToken: string };
};

/** Stores a link, replacing the person's earlier ones. A reset that they asked for doesn't replace the operator's. */
export async function insertLink(
  transaction: StoreTransaction,
  link: PortalLink,
  tokenSha256: string,
): Promise<void> {
  await transaction
    .deleteFrom('portal_links')
    .where((row) => row.and({ company: link.company, kind: link.kind, email: link.email }))
    .where('feed_token', link.vouched ? 'is not' : 'is', null)
    .$if(link.kind === 'reset' && link.madeBy !== null, (query) => query.where('made_by', '=', link.madeBy))
    .execute();
  await transaction
    .insertInto('portal_links')
    .values({
      ...writeRow(accountLinks, { name: null, feedToken: null, ...link.vouched, ...link }),
      token_sha256: tokenSha256,
    })
    .execute();
}

/** Returns a link that can still be used, without using it up; undefined if there is none. */
export async function findLink(
  engine: Engine,
  token: HashedToken,
  now: string,
): Promise<PortalLink | undefined> {
  const row = await engine.db
    .selectFrom('portal_links')
    .selectAll()
    .where(isOfToken(token, 'portal_links'))
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row && toLink(row);
}

/** Uses up a link and returns it; of several simultaneous requests, only one gets it. */
export async function takeLink(
  transaction: StoreTransaction,
  token: HashedToken,
  now: string,
): Promise<PortalLink | undefined> {
  const row = await transaction
    .deleteFrom('portal_links')
    .where(isOfToken(token, 'portal_links'))
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
  return row && toLink(row);
}

/** Returns a company's open invitations, oldest first. */
export async function listInvitations(db: Connection, company: string, now: Date): Promise<PortalLink[]> {
  const rows = await db
    .selectFrom('portal_links')
    .selectAll()
    .where((row) => row.and({ company, kind: 'invitation' }))
    .where('feed_token', 'is', null)
    .where('expires_at', '>', now.toISOString())
    .orderBy('id')
    .execute();
  return rows.map(toLink);
}

/** Deletes an invitation and returns it; undefined when there is none. */
export async function deleteInvitation(
  transaction: StoreTransaction,
  company: string,
  id: string,
): Promise<PortalLink | undefined> {
  const row = await transaction
    .deleteFrom('portal_links')
    .where((row) => row.and({ company, kind: 'invitation', id }))
    .returningAll()
    .executeTakeFirst();
  return row && toLink(row);
}

/** Deletes links by their creator, by the administrator whose password they reset, or by email address. */
export async function deleteLinksOf(
  transaction: StoreTransaction,
  column: 'made_by' | 'administrator' | 'email',
  { company, id }: AccountKey,
): Promise<void> {
  await transaction
    .deleteFrom('portal_links')
    .where('company', '=', company)
    .where(column, '=', id)
    .execute();
}

function toLink(row: Selectable<Tables['portal_links']>): PortalLink {
  const { name, feedToken, ...link } = readRow(accountLinks, row);
  return name === null || feedToken === null ? link : { ...link, vouched: { name, feedToken } };
}
