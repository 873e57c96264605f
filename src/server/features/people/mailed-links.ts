import { randomUUIDv7 } from 'node:crypto';

import { DAY_MS, HOUR_MS } from '../../../contract/durations.ts';
import { UsageError } from '../../../errors.ts';
import { type Administrator, findAccount, findAccountsOf } from '../../store/accounts/administrator-rows.ts';
import { countAuditEntries, type Origin } from '../../store/accounts/audit-trail.ts';
import type { AuthorisedTransaction } from '../../store/accounts/authorised-transaction.ts';
import { insertLink, listInvitations, type PortalLink } from '../../store/accounts/link-rows.ts';
import { addNotice, type Notice } from '../../store/accounts/notice-rows.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import { lockCompany } from '../../store/records/companies.ts';
import { OPENED_MAX } from '../sign-in/sign-in.ts';
import { recordArrival } from '../sign-in/sessions.ts';
import { mintTokenOf, tokenHash } from '../../access/tokens.ts';

const MAILED_RESET_HOURS = 1;
/** Maximum number of invitations mailed per administrator in 24 hours, because their addresses are unconfirmed. */
const MAILED_INVITATIONS_MAX = 20;

/** Queues the mail for an invitation. @throws UsageError beyond the daily limit. */
export async function mailInvitation(authorised: AuthorisedTransaction, { id }: PortalLink): Promise<void> {
  const { transaction, company, by, now } = authorised;
  if (by === 'operator') return;
  const from = new Date(now.getTime() - DAY_MS);
  const own = { administrator: by.id, action: 'invitation.created', from } as const;
  if (
    (await countAuditEntries(transaction, company, own, MAILED_INVITATIONS_MAX + 1)) > MAILED_INVITATIONS_MAX
  )
    throw new UsageError(
      `We can email ${MAILED_INVITATIONS_MAX} of your invitations a day. Send the link yourself instead.`,
    );
  const details = { link: id, by: by.name, maker: by.id };
  await addNotice(transaction, { company, kind: 'invitation.created', administrator: null, details, now });
}

/**
 * Creates the link for a mail. Its code is stored nowhere, so each attempt to send the mail makes a new code, which ends the
 * previous one. Returns undefined when the link was withdrawn or its administrator removed.
 */
export async function linkForMail(
  transaction: StoreTransaction,
  { company, kind, administrator: id, details, createdAt }: Notice,
  now: Date,
): Promise<{ token: string; link: PortalLink } | undefined> {
  // A reset link must not arrive days after the request: its owner may have changed their password by then.
  const askedMs = now.getTime() - Date.parse(createdAt);
  if (kind === 'reset.asked' && askedMs > MAILED_RESET_HOURS * HOUR_MS) return undefined;
  // Two mails sent at once must not create two valid links.
  await lockCompany(transaction, company);
  const token = mintTokenOf(company);
  const account = await findAccount(transaction, { company, id: id ?? '' });
  const own = account && { madeBy: id, hours: MAILED_RESET_HOURS, now };
  const link =
    kind === 'invitation.created'
      ? (await listInvitations(transaction, company, now)).find((one) => one.id === details.link)
      : own && resetLink(account.administrator, own);
  if (link) await insertLink(transaction, link, tokenHash(token));
  return link && { token, link };
}

/**
 * Requests a mailed password-reset link for each account of an email address. Callers run it after the response, so that
 * its duration doesn't reveal whether there are any accounts.
 */
export async function askForReset(
  engine: Engine,
  { email, ...origin }: Origin & { email: string; now: Date },
): Promise<void> {
  for (const { administrator } of (await findAccountsOf(engine, email)).slice(0, OPENED_MAX))
    await engine.transaction(async (transaction) => {
      if (await lockCompany(transaction, administrator.company))
        await recordArrival(transaction, { administrator, ...origin }, 'reset.asked');
    });
}

/** Builds a password-reset link for an administrator. @param options.madeBy their own id, or null for an operator. */
export function resetLink(
  { id, company, email }: Administrator,
  { madeBy, hours, now }: { madeBy: string | null; hours: number; now: Date },
): PortalLink {
  return {
    ...{ id: randomUUIDv7(), kind: 'reset', company, administrator: id, email, madeBy },
    ...{ scopes: [], mayInvite: false, createdAt: now.toISOString() },
    expiresAt: new Date(now.getTime() + hours * HOUR_MS).toISOString(),
  };
}
