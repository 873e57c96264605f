import type { Selectable } from 'kysely';

import type { Scope } from '../../../contract/scopes.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import type { LinksTable } from '../accounts-schema.ts';
import type { AccountKey } from './administrator-rows.ts';
import { type HashedToken, isOfToken } from './session-rows.ts';

/** A link that works once: it invites an administrator, or sets somebody's password anew. */
export interface PortalLink {
  id: string;
  kind: 'invitation' | 'reset';
  company: string;
  /** Whose password it sets; null for an invitation. */
  administrator: string | null;
  email: string;
  scopes: Scope[];
  mayInvite: boolean;
  /** The administrator who made it; null when an operator did. */
  madeBy: string | null;
  createdAt: string;
  expiresAt: string;
  /** Of an invitation by a business system, which signs in without a password: the person's name, and the feed token. */
  vouched?: { name: string; feedToken: string };
}

/** Adds a link in place of former ones for the same person. One that they asked for themselves leaves the operator's. */
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
      token_sha256: tokenSha256,
      id: link.id,
      kind: link.kind,
      company: link.company,
      administrator: link.administrator,
      email: link.email,
      scopes: JSON.stringify(link.scopes),
      may_invite: Number(link.mayInvite),
      made_by: link.madeBy,
      created_at: link.createdAt,
      expires_at: link.expiresAt,
      name: link.vouched?.name ?? null,
      feed_token: link.vouched?.feedToken ?? null,
    })
    .execute();
}

/** A link that can still be used, without using it. */
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

/** Uses a link up: of several requests at once, one gets it. */
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

/** The open invitations of a company, oldest first. */
export async function listInvitations(
  db: Engine['db'] | StoreTransaction,
  company: string,
  now: Date,
): Promise<PortalLink[]> {
  const rows = await db
    .selectFrom('portal_links')
    .selectAll()
    .where('company', '=', company)
    .where('kind', '=', 'invitation')
    .where('feed_token', 'is', null)
    .where('expires_at', '>', now.toISOString())
    .orderBy('id')
    .execute();
  return rows.map(toLink);
}

/** Deletes an invitation; undefined when there is none. */
export async function deleteInvitation(
  transaction: StoreTransaction,
  company: string,
  id: string,
): Promise<PortalLink | undefined> {
  const row = await transaction
    .deleteFrom('portal_links')
    .where('company', '=', company)
    .where('kind', '=', 'invitation')
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && toLink(row);
}

/** Deletes the links that an administrator made (`made_by`), those for their own password (`administrator`), or all of an address. */
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

function toLink(row: Selectable<LinksTable>): PortalLink {
  return {
    id: row.id,
    kind: row.kind,
    company: row.company,
    administrator: row.administrator,
    email: row.email,
    // Written by `insertLink` from checked scopes.
    scopes: JSON.parse(row.scopes) as Scope[],
    mayInvite: row.may_invite === 1,
    madeBy: row.made_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...(row.name !== null &&
      row.feed_token !== null && { vouched: { name: row.name, feedToken: row.feed_token } }),
  };
}
