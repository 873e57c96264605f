import { randomUUIDv7 } from 'node:crypto';

import { type Selectable, sql } from 'kysely';

import { DAY_MS } from '../../../contract/durations.ts';
import type { MoveEventKind } from '../../../contract/events.ts';
import { maySeeEvent } from '../../../contract/withholding.ts';
import type { NoticesTable } from '../accounts-schema.ts';
import { dialectOf } from '../dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import { ofAllCompanies } from '../machines.ts';
import { type AccountKey, listAdministratorRows } from './administrator-rows.ts';

/**
 * The kinds of notices. Most are actions of the audit trail, which adds their notices (audit-trail.ts). `reset.asked` and
 * `invitation.created` mail a link; the latter's recipient has no account. See ../../notices/texts.ts for their words.
 */
export type NoticeKind =
  | 'webhook.failing'
  | 'webhook.recovered'
  | 'delivery.failed'
  | 'key.created'
  | 'webhook.registered'
  | 'invitation.accepted'
  | 'administrator.signed_in'
  | 'administrator.changed_password'
  | 'administrator.access_changed'
  | 'administrator.added'
  | 'second_factor.added'
  | 'second_factor.codes_renewed'
  | 'second_factor.removed'
  | 'reset.asked'
  | 'reset.used'
  | 'invitation.created'
  | 'invitation.not_mailed';

export interface NewNotice {
  company: string;
  kind: NoticeKind;
  /** The values in its sentences, by name (../../notices/texts.ts). Never a secret. */
  details: Readonly<Record<string, string>>;
  /** The one administrator whom it concerns, or null for somebody who is invited; all administrators, unless given. */
  administrator?: string | null;
  /** The events of a webhook: only who may see the data of one of them is told. */
  events?: readonly MoveEventKind[] | undefined;
  now: Date;
}

/**
 * Tells administrators of something, in the transaction in which it happens. Each gets a mail, where the operator has set
 * mail up and the administrator hasn't stopped that kind, and sees it on their page of notices for 30 days.
 */
export async function addNotice(transaction: StoreTransaction, notice: NewNotice): Promise<void> {
  const { company, kind, details, administrator, events, now } = notice;
  const people = (await listAdministratorRows(transaction, company)).filter(
    ({ id, scopes, disabledAt }) =>
      disabledAt === null &&
      (administrator === undefined || id === administrator) &&
      (!events || events.some((event) => maySeeEvent(scopes, event))),
  );
  const ids = administrator === null ? [null] : people.map(({ id }) => id);
  const at = now.toISOString();
  const row = { company, kind, details: JSON.stringify(details), created_at: at, due_at: at };
  const rows = ids.map((id) => ({ ...row, id: randomUUIDv7(), administrator: id }));
  if (rows.length > 0) await transaction.insertInto('notices').values(rows).execute();
}

export interface Notice extends Pick<NoticesTable, 'company' | 'id' | 'administrator'> {
  kind: NoticeKind;
  details: Record<string, string>;
  createdAt: string;
  state: Selectable<NoticesTable>['state'];
  /** Attempts to mail it that were begun. */
  attemptCount: number;
  problem: string | null;
}

function toNotice(row: Selectable<NoticesTable>): Notice {
  const { company, id, administrator, kind, details, created_at, state, attempt_count, problem } = row;
  return {
    ...{ company, id, administrator, state, problem, createdAt: created_at, attemptCount: attempt_count },
    // Written by `addNotice`, as are the details.
    kind: kind as NoticeKind,
    details: JSON.parse(details) as Record<string, string>,
  };
}

const LISTED_MAX = 200;

/** The notices of an administrator, the newest first, 200 at most. */
export async function listNotices({ db }: Engine, { company, id }: AccountKey): Promise<Notice[]> {
  const rows = await db
    .selectFrom('notices')
    .selectAll()
    .where('company', '=', company)
    .where('administrator', '=', id)
    .orderBy('created_at', 'desc')
    .limit(LISTED_MAX)
    .execute();
  return rows.map(toNotice);
}

/** A mail that can't be sent is given up after four to five days (RFC 5321 section 4.5.4.1). */
export const MAIL_DAYS_MAX = 5;

/** A notice that is to be mailed, or is being mailed. Older ones were committed while no mail was set up. */
const isOpen = (now: Date) => {
  const oldest = new Date(now.getTime() - MAIL_DAYS_MAX * DAY_MS).toISOString();
  // The first condition must equal that of the partial index `notices_due`.
  return sql<boolean>`state IN ('waiting', 'sending') AND due_at > ${oldest}`;
};

/** The same whose time has come: to be tried, or to be taken over from a worker whose lease has run out. */
const isDue = (now: Date) => sql<boolean>`${isOpen(now)} AND due_at <= ${now.toISOString()}`;

export type NoticeKey = Pick<NoticesTable, 'company' | 'id'>;

/** Notices that are to be mailed now, those that have waited longest first. */
export async function listDueNotices(engine: Engine, now: Date, countMax: number): Promise<NoticeKey[]> {
  return ofAllCompanies(
    engine,
    (isReached) => sql<NoticeKey>`
      SELECT company, id FROM notices WHERE ${isDue(now)} AND ${isReached('company')} ORDER BY due_at LIMIT ${countMax}`,
  );
}

/** For how many seconds the oldest of the notices that are to be mailed has waited; 0 if there is none. */
export async function secondsOfOldestNotice(engine: Engine, now: Date): Promise<number> {
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<{ at: string | null }>`
      SELECT MIN(created_at) AS at FROM notices ${engine.dialect.indexedBy('notices_due')}
      WHERE ${isOpen(now)} AND ${isReached('company')}`,
  );
  return Math.max(0, ...rows.map(({ at }) => (at === null ? 0 : (now.getTime() - Date.parse(at)) / 1000)));
}

/**
 * Takes a lease on a notice that is due, and finds out how to mail it, in one transaction; it is committed before anything is sent.
 * @param find finds the mail; a notice for which it finds none is `muted`.
 * @returns undefined also when another worker has taken it.
 */
export async function leaseNotice<T>(
  engine: Engine,
  { company, id }: NoticeKey,
  { lease, stopSha256, now, until }: { lease: string; stopSha256: string; now: Date; until: Date },
  find: (transaction: StoreTransaction, notice: Notice) => Promise<T | undefined>,
): Promise<{ notice: Notice; found: T } | undefined> {
  return engine.transaction(async (transaction) => {
    const row = await transaction
      .selectFrom('notices')
      .selectAll()
      .where('company', '=', company)
      .where('id', '=', id)
      .where(isDue(now))
      .modifyEnd(dialectOf(transaction).forUpdateSkipLocked)
      .executeTakeFirst();
    if (!row) return undefined;
    const notice = { ...toNotice(row), attemptCount: row.attempt_count + 1 };
    const found = await find(transaction, notice);
    await transaction
      .updateTable('notices')
      .set({
        state: found ? 'sending' : 'muted',
        lease,
        stop_sha256: stopSha256,
        due_at: until.toISOString(),
      })
      .set({ attempt_count: notice.attemptCount })
      .where('company', '=', company)
      .where('id', '=', id)
      .execute();
    return found && { notice, found };
  });
}

/** Keeps the outcome of an attempt, unless another worker has taken the lease. @param outcome.told is added if it failed. */
export async function settleNotice(
  engine: Engine,
  { company, id }: NoticeKey,
  lease: string,
  outcome: {
    state: Notice['state'];
    problem?: string | undefined;
    dueAt?: Date | undefined;
    told?: NewNotice | undefined;
  },
): Promise<void> {
  const { state, problem = null, dueAt, told } = outcome;
  await engine.transaction(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('notices')
      .set({ state, problem, ...(dueAt && { due_at: dueAt.toISOString() }) })
      .where('company', '=', company)
      .where('id', '=', id)
      .where('lease', '=', lease)
      .executeTakeFirst();
    if (told && state === 'failed' && Number(numUpdatedRows) === 1) await addNotice(transaction, told);
  });
}

/** The notice whose mail has a code that stops mails of its kind. */
export async function findNotice(
  db: Engine['db'] | StoreTransaction,
  { company, id, stopSha256 }: NoticeKey & { stopSha256: string },
): Promise<Notice | undefined> {
  const row = await db
    .selectFrom('notices')
    .selectAll()
    .where('company', '=', company)
    .where('id', '=', id)
    .where('stop_sha256', '=', stopSha256)
    .executeTakeFirst();
  return row && toNotice(row);
}
