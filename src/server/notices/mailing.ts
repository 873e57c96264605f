import { randomUUID } from 'node:crypto';

import { createTransport, type SendMailOptions } from 'nodemailer';

import { DAY_MS, MINUTE_MS } from '../../contract/durations.ts';
import { linkForMail } from '../access/mailed-links.ts';
import { mintToken, tokenHash } from '../access/tokens.ts';
import type { Logger } from '../log.ts';
import { findAccounts } from '../store/accounts/administrator-rows.ts';
import {
  leaseNotice,
  listDueNotices,
  MAIL_DAYS_MAX,
  type Notice,
  type NoticeKey,
  settleNotice,
} from '../store/accounts/notice-rows.ts';
import type { Engine, StoreTransaction } from '../store/engines/engine.ts';
import { findCompanyRow } from '../store/records/companies.ts';
import { nextAttemptAt } from '../webhooks/attempt.ts';
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
/** Of a whole attempt. */
const DEADLINE_MS = 20_000;
const LEASE_MS = 2 * MINUTE_MS;
/** After this number of attempts they are two hours apart. */
const LONGEST_DELAY = 4;

/**
 * Mails notices that are due, a few at a time. Any number of processes share the work. A mail is sent twice only where a process
 * ends between the server's answer and the commit that keeps it.
 */
export async function mailNotices(means: MailMeans, signal?: AbortSignal): Promise<void> {
  const left = (await listDueNotices(means.engine, means.now(), MAILS_MAX)).values();
  const lane = async () => {
    for (const key of left) if (!signal?.aborted) await mailNotice(key, means);
  };
  const done = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane));
  for (const outcome of done) if (outcome.status === 'rejected') throw outcome.reason;
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
  const next = problem && nextTry(notice, problem, now());
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
  const transport = createTransport({
    url,
    ...{ connectionTimeout: DEADLINE_MS, greetingTimeout: DEADLINE_MS, socketTimeout: DEADLINE_MS },
    ...{ disableFileAccess: true, disableUrlAccess: true },
    // A password goes in the clear to a mail server of this machine alone.
    requireTLS: username !== '' && !/^(?:127\.|\[::1\]$|localhost$)/.test(hostname),
  });
  try {
    await transport.sendMail({ ...make(), signal: AbortSignal.timeout(DEADLINE_MS) });
    return undefined;
  } catch (error) {
    const { code, responseCode, command = '', permanent = false } = error as NodemailerError;
    // Whatever else the server refuses, such as the password, is the operator's to mend.
    const isFinal = permanent && ['RCPT TO', 'DATA'].includes(command);
    return { reason: String(responseCode ?? code ?? 'internal'), isFinal };
  } finally {
    transport.close();
  }
}

/** What nodemailer adds to its errors. */
interface NodemailerError extends NodeJS.ErrnoException {
  responseCode?: number;
  command?: string;
  permanent?: boolean;
}

/** When a mail is tried again: as deliveries are at first, then every two hours; undefined when it is given up. */
function nextTry({ attemptCount, createdAt }: Notice, { isFinal }: Problem, now: Date): Date | undefined {
  const next = nextAttemptAt(Math.min(attemptCount, LONGEST_DELAY), now, Math.random);
  const endsMs = Date.parse(createdAt) + MAIL_DAYS_MAX * DAY_MS;
  return isFinal || !next || next.getTime() > endsMs ? undefined : next;
}
