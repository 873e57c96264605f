import { randomUUIDv7 } from 'node:crypto';

import { AppError, quote, UsageError } from '../errors.ts';
import {
  type Administrator,
  findAdministratorRow,
  findSignIn,
  insertAdministrator,
  listAdministratorRows,
  updateAdministratorRow,
} from '../store/administrators.ts';
import { actorId, recordDeed } from '../store/audit.ts';
import { lockCompany } from '../store/companies.ts';
import type { Engine, StoreTransaction } from '../store/engine.ts';
import {
  deleteInvitation,
  findLink,
  insertLink,
  listInvitationRows,
  type PortalLink,
  takeLink,
} from '../store/portal-links.ts';
import { deleteSessionRows } from '../store/portal-sessions.ts';
import { checkedEmail, checkedName, grantedScopes, type Remover } from './administrators.ts';
import { hashPassword, refuseWeakPassword } from './passwords.ts';
import { beginSession, type SessionLengths } from './sessions.ts';
import { isToken, mintToken, tokenHash } from './tokens.ts';

const INVITATION_HOURS = 72;
const RESET_HOURS = 24;
const HOUR_MS = 3_600_000;
/** Invitations of one company that wait to be accepted. */
export const INVITATIONS_MAX = 20;
/** Administrators that a company can have at once. */
export const ADMINISTRATORS_MAX = 50;

/** What is said of a link that can't be used, whatever the reason: it may be somebody else's. */
const UNUSABLE =
  "This link can't be used: it was used already, has expired, or was replaced. Ask for a new one.";

/**
 * Invites somebody to administer a company.
 * @returns the token of the link, which can't be shown again. A second invitation of the same person replaces the
 *   first.
 * @throws UsageError naming the value that is refused, when `by` may not invite, and when there are too many.
 */
export async function invite(
  engine: Engine,
  options: {
    company: string;
    email: string;
    scopes: readonly string[];
    mayInvite: boolean;
    by: Remover;
    now: Date;
  },
): Promise<{ token: string; invitation: PortalLink }> {
  const { company, by, now, mayInvite } = options;
  if (by !== 'operator' && !by.mayInvite)
    throw new UsageError('You are not allowed to invite or remove administrators.');
  const link = linkOf({
    kind: 'invitation',
    company,
    administrator: null,
    email: checkedEmail(options.email),
    scopes: grantedScopes(options.scopes, by),
    mayInvite,
    madeBy: actorId(by),
    createdAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + INVITATION_HOURS * HOUR_MS).toISOString(),
  });
  const present = (await listAdministratorRows(engine, company)).filter(
    ({ disabledAt }) => disabledAt === null,
  );
  if (present.some(({ email }) => email === link.email))
    throw new UsageError(`${quote(link.email)} administers this company already.`);
  if (present.length >= ADMINISTRATORS_MAX)
    throw new UsageError(`A company has at most ${ADMINISTRATORS_MAX} administrators; remove one first.`);
  const token = mintToken();
  await engine.transaction(async (transaction) => {
    if (!(await lockCompany(engine, transaction, company)))
      throw new UsageError(`There is no company ${quote(company)}.`);
    const outcome = await insertLink(transaction, link, tokenHash(token), INVITATIONS_MAX);
    if (outcome === 'limit reached')
      throw new UsageError(`At most ${INVITATIONS_MAX} invitations can wait at once; withdraw one first.`);
    await recordDeed(transaction, {
      company,
      by,
      action: 'invitation.created',
      subject: link.id,
      details: { email: link.email, scopes: link.scopes.join(' ') },
      now,
    });
  });
  return { token, invitation: link };
}

/**
 * Makes a link with which an administrator sets a new password; only an operator can, who knows whom they speak to.
 * @throws UsageError when nobody of that e-mail address administers the company.
 */
export async function inviteToReset(
  engine: Engine,
  { company, email, now }: { company: string; email: string; now: Date },
): Promise<{ token: string; administrator: Administrator }> {
  const found = await findSignIn(engine, checkedEmail(email));
  if (found?.administrator.company !== company)
    throw new UsageError(`The company ${quote(company)} has no administrator ${quote(email)}.`);
  const { administrator } = found;
  const link = linkOf({
    kind: 'reset',
    company,
    administrator: administrator.id,
    email: administrator.email,
    scopes: [],
    mayInvite: false,
    madeBy: null,
    createdAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + RESET_HOURS * HOUR_MS).toISOString(),
  });
  const token = mintToken();
  await engine.transaction(async (transaction) => {
    await insertLink(transaction, link, tokenHash(token), ADMINISTRATORS_MAX);
    await recordDeed(transaction, {
      company,
      by: 'operator',
      action: 'reset.created',
      subject: administrator.id,
      details: { email: administrator.email },
      now,
    });
  });
  return { token, administrator };
}

/**
 * What a link is for, without using it.
 * @throws UsageError when it can't be used.
 */
export async function getLink(engine: Engine, token: string, now: Date): Promise<PortalLink> {
  const link = isToken(token) ? await findLink(engine, tokenHash(token), now.toISOString()) : undefined;
  if (!link) throw new UsageError(UNUSABLE);
  return link;
}

/**
 * Uses a link: an invited person becomes an administrator, or somebody's password is set anew and all their sessions
 * end. Then they are signed in.
 * @param use.name what an invited person is called.
 * @throws UsageError when the link can't be used, or the name or the password is refused; the link stays usable then.
 */
export async function acceptLink(
  engine: Engine,
  use: { token: string; name: string; password: string; client: string; now: Date; lengths: SessionLengths },
): Promise<{ token: string; administrator: Administrator }> {
  const { client, now, lengths } = use;
  const expected = await getLink(engine, use.token, now);
  const name = expected.kind === 'invitation' ? checkedName(use.name) : '';
  refuseWeakPassword(use.password, { email: expected.email, name });
  const password = await hashPassword(use.password);
  return engine.transaction(async (transaction) => {
    await lockCompany(engine, transaction, expected.company);
    const link = await takeLink(transaction, tokenHash(use.token), now.toISOString());
    if (!link) throw new UsageError(UNUSABLE);
    const administrator =
      link.kind === 'invitation'
        ? await addInvited(transaction, { link, name, password, now })
        : await resetPassword(transaction, { link, password, now });
    return beginSession(transaction, { administrator, client, now, lengths });
  });
}

async function addInvited(
  transaction: StoreTransaction,
  { link, name, password, now }: { link: PortalLink; name: string; password: string; now: Date },
): Promise<Administrator> {
  const administrator: Administrator = {
    id: `adm_${randomUUIDv7()}`,
    company: link.company,
    email: link.email,
    name,
    scopes: link.scopes,
    mayInvite: link.mayInvite,
    madeBy: link.madeBy,
    createdAt: now.toISOString(),
    signedInAt: null,
    disabledAt: null,
  };
  // That the address administers another company isn't told: whoever invites could find out who does.
  if (!(await insertAdministrator(transaction, administrator, password))) throw new UsageError(UNUSABLE);
  const { company, id, email } = administrator;
  await recordDeed(transaction, {
    company,
    by: administrator,
    action: 'invitation.accepted',
    subject: id,
    details: { email },
    now,
  });
  return administrator;
}

async function resetPassword(
  transaction: StoreTransaction,
  { link, password, now }: { link: PortalLink; password: string; now: Date },
): Promise<Administrator> {
  const found = await findAdministratorRow(transaction, link.company, link.administrator ?? '');
  if (!found || found.disabledAt !== null) throw new UsageError(UNUSABLE);
  await updateAdministratorRow(transaction, found.id, { password });
  await deleteSessionRows(transaction, found.id);
  await recordDeed(transaction, {
    company: found.company,
    by: found,
    action: 'reset.used',
    subject: found.id,
    now,
  });
  return found;
}

/** The invitations of a company that wait to be accepted, oldest first. */
export async function listInvitations(engine: Engine, company: string, now: Date): Promise<PortalLink[]> {
  return listInvitationRows(engine, company, now.toISOString());
}

/**
 * Takes an invitation back.
 * @throws AppError `not_found` when the company has no such invitation; UsageError when `by` may not invite.
 */
export async function withdrawInvitation(
  engine: Engine,
  { company, id, by, now }: { company: string; id: string; by: Administrator; now: Date },
): Promise<PortalLink> {
  if (!by.mayInvite) throw new UsageError('You are not allowed to invite or remove administrators.');
  return engine.transaction(async (transaction) => {
    const link = await deleteInvitation(transaction, company, id);
    if (!link) throw new AppError('not_found', 'There is no such invitation.');
    await recordDeed(transaction, {
      company,
      by,
      action: 'invitation.withdrawn',
      subject: id,
      details: { email: link.email },
      now,
    });
    return link;
  });
}

function linkOf(link: Omit<PortalLink, 'id'>): PortalLink {
  return { id: randomUUIDv7(), ...link };
}
