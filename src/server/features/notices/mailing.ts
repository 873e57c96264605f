import { DAY_MS, MINUTE_MS } from '../../../contract/durations.ts';
import { mintToken, tokenHash } from '../../access/tokens.ts';
import type { Logger } from '../../process/log.ts';
import { findAccount } from '../../store/accounts/administrator-rows.ts';
import { addNotice, type Notice, toNotice } from '../../store/accounts/notice-rows.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import { type Outbox, QUEUE_DAYS, sendDue } from '../../store/outbox.ts';
import { type Company, findCompanyRow } from '../../store/records/companies.ts';
import { linkForMail } from '../people/mailed-links.ts';
import { nextAttemptAt } from '../../sending/schedule.ts';
import { mailOf, type MailSettings, type Recipient } from './mail.ts';
import { choiceOf } from './texts.ts';

export interface MailMeans extends MailSettings {
  engine: Engine;
  smtpUrl: string;
  log: Logger;
  now: () => Date;
}

const AT_ONCE = 4;
const CONNECT_MS = 20_000;
/** Time limit of an attempt: a server that scans a mail may answer late and still accept it (RFC 5321 section 4.5.3.2.6). */
const ATTEMPT_MS = 6 * MINUTE_MS;
const LEASE_MS = 8 * MINUTE_MS;
/** Number of attempts after which further ones are two hours apart. */
const LONGEST_DELAY = 4;

/** A notice being mailed, and the code with which its mail stops mails of its kind. */
interface Mail extends Recipient {
  notice: Notice;
  company: Company;
  stop: string;
}

/** Mails the notices that are due; see `sendDue`. */
export async function mailNotices(means: MailMeans, signal?: AbortSignal): Promise<void> {
  const outbox: Outbox<'notices', Mail, Partial<Problem>> = {
    ...{ queue: 'notices', sent: 'sent', atOnce: AT_ONCE, leaseMs: LEASE_MS },
    prepare,
    attempt: async (mail) => (await send(mail, means)) ?? {},
    nextTry,
    settle: async (transaction, { notice, to }, { state }) => {
      const { company, kind, details } = notice;
      // The inviter is told, because the recipient has no page that could say so.
      if (state === 'failed' && kind === 'invitation.created')
        await addNotice(transaction, {
          ...{ company, kind: 'invitation.not_mailed', administrator: details.maker ?? '' },
          ...{ details: { email: to }, now: means.now() },
        });
    },
    lines: { attempted: 'mail.attempted', failed: 'mail.failed' },
    describe: ({ notice: { id, kind, attemptCount } }) => ({ id, kind, attempt: attemptCount }),
  };
  await sendDue(outbox, means, signal);
}

/** Prepares a notice. It is `muted` if its recipient was removed or has stopped its kind, or its link was withdrawn. */
const prepare: Outbox<'notices', Mail, object>['prepare'] = async (transaction, row, now) => {
  const notice = { ...toNotice(row), attemptCount: row.attempt_count + 1 };
  const company = await findCompanyRow({ db: transaction }, row.company);
  const recipient = await findRecipient(transaction, notice, now);
  const stop = mintToken();
  await transaction
    .updateTable('notices')
    .set({ stop_sha256: tokenHash(stop) })
    .where((where) => where.and({ company: row.company, id: row.id }))
    .execute();
  if (!company || !recipient) return { state: 'muted' };
  return { state: 'sending', item: { ...recipient, notice, company, stop } };
};

async function findRecipient(
  transaction: StoreTransaction,
  notice: Notice,
  now: Date,
): Promise<Recipient | undefined> {
  const { company, kind, administrator: id } = notice;
  if (kind === 'reset.asked' || kind === 'invitation.created') {
    const made = await linkForMail(transaction, notice, now);
    return made && { to: made.link.email, token: made.token, expiresAt: made.link.expiresAt };
  }
  const account = await findAccount(transaction, { company, id: id ?? '' });
  const isMuted = account?.administrator.mutedNotices?.includes(choiceOf(kind) ?? '');
  return account && !isMuted ? { to: account.administrator.email } : undefined;
}

interface Problem {
  /** The server's code or nodemailer's error code; never the server's text, which names the address. */
  problem: string;
  /** Whether the server refuses this recipient or this mail for good. */
  isFinal: boolean;
}

async function send(mail: Mail, means: MailMeans): Promise<Problem | undefined> {
  const { notice, company, stop } = mail;
  const { smtpUrl: url } = means;
  const { hostname, username } = new URL(url);
  const stopCode = `${company.id}.${notice.id}.${stop}`;
  // Loaded only here, because many services send no mail, and all start a tenth faster without it.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url,
    ...{ connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: ATTEMPT_MS },
    ...{ disableFileAccess: true, disableUrlAccess: true },
    // A password is sent unencrypted only to a mail server on this machine.
    requireTLS: username !== '' && !/^(?:127\.|\[::1\]$|localhost$)/.test(hostname),
  });
  try {
    await transport.sendMail({
      ...mailOf(notice, mail, { ...means, stopCode }),
      signal: AbortSignal.timeout(ATTEMPT_MS),
    });
    return undefined;
  } catch (error) {
    const { code, responseCode } = error as NodemailerError;
    return {
      problem: String(responseCode ?? code ?? 'internal'),
      isFinal: isForRecipient(error as NodemailerError),
    };
  } finally {
    transport.close();
  }
}

/** Whether the recipient doesn't exist or their mailbox is full. Other refusals, as of the sender, are for the operator. */
function isForRecipient({ permanent = false, command, response = '' }: NodemailerError): boolean {
  // RFC 3463 status codes. Servers that give none refuse a recipient in their answer to RCPT.
  const subject = /\b5\.(\d)\.\d/.exec(response)?.[1];
  const isRecipient =
    subject === undefined ? command === 'RCPT TO' && !/relay/i.test(response) : '12'.includes(subject);
  return permanent && isRecipient;
}

/** An error with the members that nodemailer adds. */
interface NodemailerError extends NodeJS.ErrnoException {
  responseCode?: number;
  command?: string;
  /** The server's reply line. */
  response?: string;
  permanent?: boolean;
}

/** Returns when to retry a mail: as deliveries at first, then every two hours; undefined when it or its link has expired. */
function nextTry(
  { notice: { kind, attemptCount, createdAt }, expiresAt }: Mail,
  { isFinal }: Partial<Problem>,
  now: Date,
): Date | undefined {
  const next = nextAttemptAt(Math.min(attemptCount, LONGEST_DELAY), now, Math.random);
  const lastMs = Date.parse(createdAt) + QUEUE_DAYS.notices * DAY_MS;
  const endsMs =
    kind === 'invitation.created' ? Math.min(lastMs, Date.parse(expiresAt ?? '') || lastMs) : lastMs;
  return isFinal || !next || next.getTime() > endsMs ? undefined : next;
}
