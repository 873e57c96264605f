import { randomUUIDv7 } from 'node:crypto';

import { MINUTE_MS } from '../../../contract/durations.ts';
import type { PortalLinkRequest } from '../../../contract/feed.ts';
import { AppError, quote, UsageError } from '../../../errors.ts';
import {
  type Administrator,
  insertAdministrator,
  listAdministratorRows,
  newAdministrator,
  NO_PASSWORD,
  updateAdministratorRow,
} from '../../store/accounts/administrator-rows.ts';
import type { Origin } from '../../store/accounts/audit-trail.ts';
import { deleteLinksOf, insertLink, type PortalLink, takeLink } from '../../store/accounts/link-rows.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import { type FeedToken, findFeedToken, linkAccessOf } from '../feed-tokens/stored-feed-tokens.ts';
import { lockCompany } from '../../store/records/companies.ts';
import { deleteSessionRows } from '../../store/accounts/session-rows.ts';
import { endWiderInvitations } from './change-access.ts';
import {
  accessText,
  checkedEmail,
  checkedName,
  goesBeyond,
  grantedScopes,
} from '../../access/checked-input.ts';
import { refuseAnother, UNUSABLE } from './invitations.ts';
import { beginSession, endBrowserSessions, type Entry, recordArrival } from '../sign-in/sessions.ts';
import { hashedToken, mintTokenOf, tokenHash } from '../../access/tokens.ts';

/**
 * Makes a link that a business system uses to sign an administrator in, valid for one minute (feed.yaml, "Portal links"). The
 * link replaces any earlier one for the same person.
 * @returns the code of the link, which can't be shown again.
 * @throws UsageError naming the refused value; AppError `missing_scope` for access that the token may not give, and
 *   `not_found` when the company doesn't exist or the token doesn't cover it.
 */
export async function makePortalLink(
  engine: Engine,
  token: FeedToken,
  { company, mayInvite = false, now, ...person }: PortalLinkRequest & { now: Date },
): Promise<{ code: string; expiresAt: string }> {
  const most = linkAccessOf(token);
  if (goesBeyond({ scopes: person.scopes, mayInvite }, most))
    throw new AppError(
      'missing_scope',
      `Portal links of this feed token may give ${accessText(most) || 'nothing'}.`,
    );
  const code = mintTokenOf(company);
  const link: PortalLink = {
    id: randomUUIDv7(),
    kind: 'invitation',
    company,
    administrator: null,
    email: checkedEmail(person.email),
    scopes: grantedScopes(person.scopes, 'operator'),
    mayInvite,
    madeBy: null,
    createdAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + MINUTE_MS).toISOString(),
    vouched: { name: checkedName(person.name), feedToken: token.id },
  };
  await engine.transaction(async (transaction) => {
    const isOfToken = token.companies?.includes(company) !== false;
    if (!isOfToken || !(await lockCompany(transaction, company)))
      throw new AppError('not_found', 'There is no company with this id.');
    await findPerson(transaction, link, token);
    await insertLink(transaction, link, tokenHash(code));
  });
  return { code, expiresAt: link.expiresAt };
}

/**
 * Signs a person in by a portal link, with the access that it gives. Their business system vouches for them, so the link is
 * their proof of identity. A new person becomes an administrator without a password.
 * @throws UsageError when the link can't be used, its feed token was revoked, or the person has since been removed.
 */
export async function signInByLink(
  engine: Engine,
  use: Entry & { company: string; token: string },
): Promise<{ token: string; administrator: Administrator }> {
  const begun = await engine.transaction(async (transaction) => {
    if (!(await lockCompany(transaction, use.company))) throw new UsageError(UNUSABLE);
    const link = await takeLink(transaction, hashedToken(use.token), use.now.toISOString());
    const by = link?.vouched && (await findFeedToken(transaction, link.vouched.feedToken));
    if (!link?.vouched || !by || by.token.revokedAt !== null) throw new UsageError(UNUSABLE);
    const details = { by: `a link of ${by.token.name}`, 'feed token': by.token.id };
    const administrator = await admit(transaction, link, by.token, { ...use, details });
    const token = await beginSession(transaction, { ...use, administrator, details });
    return { token, administrator };
  });
  await endBrowserSessions(engine, use.formerTokens ?? []);
  return begun;
}

/** Gives a person the access stated in their link, and makes them an administrator on their first visit. */
async function admit(
  transaction: StoreTransaction,
  link: PortalLink,
  feed: FeedToken,
  arrival: Origin & { now: Date; details: Record<string, string> },
): Promise<Administrator> {
  const { company, email, scopes, mayInvite, vouched: { name } = { name: email } } = link;
  const { now, details } = arrival;
  const present = await findPerson(transaction, link, feed);
  const granted = { name, scopes, mayInvite };
  const administrator = present
    ? { ...present, ...granted }
    : newAdministrator({ company, email, madeBy: null, ...granted }, now);
  const access = accessText(administrator);
  if (!present) {
    await insertAdministrator(transaction, administrator, NO_PASSWORD);
    // An invitation of the same person would let them in again after they were removed.
    await deleteLinksOf(transaction, 'email', { company, id: email });
    await recordArrival(transaction, { ...arrival, administrator }, 'administrator.added', {
      email,
      access,
      ...details,
    });
  } else if (accessText(present) !== access || present.name !== name) {
    await updateAdministratorRow(transaction, administrator, granted);
    // Sessions begun by earlier links would otherwise gain the new access.
    await deleteSessionRows(transaction, administrator);
    await endWiderInvitations(transaction, present, administrator);
    const before = { before: accessText(present), 'name before': present.name };
    const recorded = { email, access, ...before, ...details };
    await recordArrival(transaction, { ...arrival, administrator }, 'administrator.access_changed', recorded);
  }
  return administrator;
}

/**
 * Finds the administrator with a link's email address; undefined when there is none yet.
 * @throws UsageError when they were removed, when the company already has the maximum number of administrators, or when they
 *   have access that the token may not give: the token's holder could then act with it.
 */
async function findPerson(
  transaction: StoreTransaction,
  { company, email }: PortalLink,
  token: FeedToken,
): Promise<Administrator | undefined> {
  const all = await listAdministratorRows(transaction, company);
  const active = all.filter(({ disabledAt }) => disabledAt === null);
  const present = active.find((one) => one.email === email);
  if (!present && all.some((one) => one.email === email))
    throw new UsageError(
      `${quote(email)} was removed from this company. Its operator can let them in again with "fieldledger admin set".`,
    );
  if (present && goesBeyond(present, linkAccessOf(token)))
    throw new UsageError(`${quote(email)} has access that links of this feed token may not give.`);
  if (!present) refuseAnother(active);
  return present;
}
