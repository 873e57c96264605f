import { randomUUID } from 'node:crypto';

import type { SendMailOptions } from 'nodemailer';

import { DAY_MS, MINUTE_MS } from '../../../contract/durations.ts';
import { linkForMail } from '../people/mailed-links.ts';
import { mintToken, tokenHash } from '../../access/tokens.ts';
import type { Logger } from '../../process/log.ts';
import { findAccounts } from '../../store/accounts/administrator-rows.ts';
import { leaseNotice, type Notice, type NoticeKey, settleNotice } from '../../store/accounts/notice-rows.ts';
import { listDue, QUEUE_DAYS } from '../../store/due-rows.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import { findCompanyRow } from '../../store/records/companies.ts';
import { nextAttemptAt } from '../webhooks/deliveries/attempt.ts';
import { inLanes } from '../../sending/repeating.ts';
import { mailOf, type MailSettings, type Recipient } from './mail.ts';
import { choiceOf } from './texts.ts';

export interface MailMeans extends MailSettings {
  engine: Engine;
  smtpUrl: string;
  log: Logger;
  now: () => Date;
}

/** Mails of one pass, and of these at once. */
const MAILS_MAX = 20;
const AT_ONCE = 4;
const CONNECT_MS = 20_000;
/** Time of a whole attempt: a server that looks into a mail may answer late, and has it all the same (RFC 5321 section 4.5.3.2.6). */
const ATTEMPT_MS = 6 * MINUTE_MS;
const LEASE_MS = 8 * MINUTE_MS;
/** After this number of attempts they are two hours apart. */
const LONGEST_DELAY = 4;

/**
 * Mails notices that are due, a few at a time. Any number of processes share the work. A mail is sent twice only where the
 * server's answer isn't kept: the process ends before, or the database or the mail server is away.
 */
export async function mailNotices(means: MailMeans, signal?: AbortSignal): Promise<void> {
  const due = await listDue(means.engine, 'notices', means.now(), MAILS_MAX);
  const onError = (err: unknown, { company, id }: NoticeKey) =>
    means.log.warn({ company, id, err }, 'mail.failed');
  await inLanes(due, { atOnce: AT_ONCE, signal, onError }, ({ company, id }) =>
    mailNotice({ company, id }, means),
  );
}

async function mailNotice(key: NoticeKey, means: MailMeans): Promise<void> {
  const { engine, log, now } = means;
  const company = await findCompanyRow(engine, key.company);
  if (!company) return;
  const [lease, stop, at] = [randomUUID(), mintToken(), now()];
  const until = new Date(at.getTime() + LEASE_MS);
  const options = { lease, stopSha256: tokenHash(stop), now: at, until };
  const leased = await leaseNotice(engine, key, options, findRecipient(at));
  if (!leased) return;
  const { notice, found } = leased;
  const stopCode = `${key.company}.${key.id}.${stop}`;
  const startedAt = performance.now();
  const problem = await send(() => mailOf(notice, { ...found, company }, { ...means, stopCode }), means);
  const next = problem && nextTry(notice, problem, found, now());
  const outcome = {
    state: problem ? (next ? 'waiting' : 'failed') : 'sent',
    problem: problem?.reason,
  } as const;
  await settleNotice(engine, key, lease, {
    ...outcome,
    dueAt: next,
    told: toldOfFailure(notice, found, now()),
  });
  const ms = Math.round(performance.now() - startedAt);
  const line = { ...key, kind: notice.kind, attempt: notice.attemptCount, ...outcome, next, ms };
  log[outcome.state === 'failed' ? 'warn' : 'info'](line, 'mail.attempted');
}

/** Whoever invited is told when the invitation can't be mailed: its recipient has no page that could say so. */
function toldOfFailure({ company, kind, details }: Notice, { to }: Recipient, now: Date) {
  if (kind !== 'invitation.created') return undefined;
  const administrator = details.maker ?? '';
  return { company, kind: 'invitation.not_mailed' as const, administrator, details: { email: to }, now };
}

/** Finds who gets a mail: nobody where its recipient was removed or has stopped its kind, or its link was withdrawn. */
function findRecipient(now: Date) {
  return async (transaction: StoreTransaction, notice: Notice): Promise<Recipient | undefined> => {
    const { company, kind, administrator: id } = notice;
    if (kind === 'reset.asked' || kind === 'invitation.created') {
      const made = await linkForMail(transaction, notice, now);
      return made && { to: made.link.email, token: made.token, expiresAt: made.link.expiresAt };
    }
    const [account] = await findAccounts(transaction, { company, id: id ?? '' });
    const isMuted = account?.administrator.mutedNotices?.includes(choiceOf(kind) ?? '');
    return account && !isMuted ? { to: account.administrator.email } : undefined;
  };
}

interface Problem {
  /** The server's code or nodemailer's class of errors; never the server's words, which name the address. */
  reason: string;
  /** Whether the server refuses this recipient or this mail for good. */
  isFinal: boolean;
}

async function send(make: () => SendMailOptions, { smtpUrl: url }: MailMeans): Promise<Problem | undefined> {
  const { hostname, username } = new URL(url);
  // Loaded here, because many services send no mail, and all start a tenth sooner without it.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url,
    ...{ connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: ATTEMPT_MS },
    ...{ disableFileAccess: true, disableUrlAccess: true },
    // A password goes in the clear to a mail server of this machine alone.
    requireTLS: username !== '' && !/^(?:127\.|\[::1\]$|localhost$)/.test(hostname),
  });
  try {
    await transport.sendMail({ ...make(), signal: AbortSignal.timeout(ATTEMPT_MS) });
    return undefined;
  } catch (error) {
    const { code, responseCode } = error as NodemailerError;
    return {
      reason: String(responseCode ?? code ?? 'internal'),
      isFinal: isForRecipient(error as NodemailerError),
    };
  } finally {
    transport.close();
  }
}

/** Whether the recipient isn't there, or full. Whatever else is refused, such as the sender, is the operator's to mend. */
function isForRecipient({ permanent = false, command, response = '' }: NodemailerError): boolean {
  // RFC 3463. Servers that give no such code refuse a recipient by their answer to RCPT.
  const subject = /\b5\.(\d)\.\d/.exec(response)?.[1];
  const isRecipient =
    subject === undefined ? command === 'RCPT TO' && !/relay/i.test(response) : '12'.includes(subject);
  return permanent && isRecipient;
}

/** The members that nodemailer adds to its errors. */
interface NodemailerError extends NodeJS.ErrnoException {
  responseCode?: number;
  command?: string;
  /** The server's line. */
  response?: string;
  permanent?: boolean;
}

/** When a mail is tried again: as deliveries are at first, then every two hours; undefined when it or its link has ended. */
function nextTry(
  { kind, attemptCount, createdAt }: Notice,
  { isFinal }: Problem,
  { expiresAt }: Recipient,
  now: Date,
): Date | undefined {
  const next = nextAttemptAt(Math.min(attemptCount, LONGEST_DELAY), now, Math.random);
  const lastMs = Date.parse(createdAt) + QUEUE_DAYS.notices * DAY_MS;
  const endsMs =
    kind === 'invitation.created' ? Math.min(lastMs, Date.parse(expiresAt ?? '') || lastMs) : lastMs;
  return isFinal || !next || next.getTime() > endsMs ? undefined : next;
}
