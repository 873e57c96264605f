import { randomUUIDv7 } from 'node:crypto';

import { type Selectable, sql } from 'kysely';

import { DAY_MS } from '../../../contract/durations.ts';
import type { SubscribableKind } from '../../../contract/events.ts';
import { maySeeEvent } from '../../../contract/withholding.ts';
import { notices } from '../tables/accounts.ts';
import { readRow, type RowOf } from '../tables/table.ts';
import type { Tables } from '../tables/tables.ts';
import { countRows } from '../batches.ts';
import type { Connection } from '../dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import { type AccountKey, listAdministratorRows } from './administrator-rows.ts';

/**
 * The recipients of the notices that the audit trail adds about its actions (audit-trail.ts): the account's owner, owner and
 * actor, all administrators, or all but the actor.
 */
export const recipients = {
  'administrator.changed_password': 'owner',
  'reset.asked': 'owner',
  'reset.used': 'owner',
  'administrator.access_changed': 'owner',
  'second_factor.added': 'owner',
  'second_factor.codes_renewed': 'owner',
  'second_factor.removed': 'owner',
  'second_factor.reset': 'both',
  'invitation.accepted': 'others',
  'administrator.added': 'others',
  'administrator.removed': 'others',
  'key.created': 'all',
  'key.revoked': 'others',
  'webhook.registered': 'all',
  'webhook.paused': 'others',
  'webhook.deleted': 'others',
} as const;

export const isTold = (action: string): action is keyof typeof recipients =>
  Object.hasOwn(recipients, action);

/**
 * The kinds of notices. `reset.asked` and `invitation.created` mail a link; the latter's recipient has no account. Their
 * texts are in features/notices/texts.ts.
 */
export type NoticeKind =
  | keyof typeof recipients
  | 'webhook.failing'
  | 'webhook.recovered'
  | 'webhook.losing'
  | 'delivery.failed'
  | 'key.ending'
  | 'administrator.signed_in'
  | 'invitation.created'
  | 'invitation.not_mailed';

export interface NewNotice {
  company: string;
  kind: NoticeKind;
  /** Values for the notice's text, by name (features/notices/texts.ts). Never a secret. */
  details: Readonly<Record<string, string>>;
  /** The id of the only recipient, or null for somebody being invited; if absent, all administrators get the notice. */
  administrator?: string | null;
  /** The id of an administrator who doesn't get the notice; null or absent for none. */
  except?: string | null;
  /** Events of the webhook that the notice is about: only administrators allowed to see the data of at least one get it. */
  events?: readonly SubscribableKind[] | undefined;
  /** The beginning of the notices' ids, without a point; nobody gets a second notice with the same. */
  once?: string;
  now: Date;
}

/** Maximum notices of one kind to a person in 24 hours, so that a flood of one kind doesn't hide others. */
const TOLD_MAX = 20;

/**
 * Adds a notice for administrators, in the transaction of the event that it reports. Each gets a mail, if the operator has
 * set up mail and the administrator hasn't muted that kind, and sees it on their page of notices for 30 days. The 20th of a
 * kind in 24 hours says that no more will follow (`isLast`). Links have no such limit, because requests for them have one.
 */
export async function addNotice(transaction: StoreTransaction, notice: NewNotice): Promise<void> {
  const { company, kind, details, administrator, except, events, once, now } = notice;
  const people = (await listAdministratorRows(transaction, company)).filter(
    ({ id, scopes, disabledAt }) =>
      disabledAt === null &&
      id !== except &&
      (administrator === undefined || id === administrator) &&
      (!events || events.some((event) => maySeeEvent(scopes, event))),
  );
  const ids = administrator === null ? [null] : people.map(({ id }) => id);
  if (ids.length === 0) return;
  const isLink = kind === 'reset.asked' || administrator === null;
  const told = isLink ? new Map<string | null, number>() : await countTold(transaction, notice, ids);
  const at = now.toISOString();
  const row = { company, kind, created_at: at, due_at: at };
  const rows = ids.flatMap((id) => {
    const count = (told.get(id) ?? 0) + 1;
    const all = JSON.stringify(count === TOLD_MAX ? { ...details, isLast: 'yes' } : details);
    const noticeId = once === undefined ? randomUUIDv7() : `${once}-${id}`;
    return count > TOLD_MAX ? [] : [{ ...row, id: noticeId, administrator: id, details: all }];
  });
  if (rows.length === 0) return;
  await transaction
    .insertInto('notices')
    .values(rows)
    .onConflict((known) => known.doNothing())
    .execute();
}

/** Returns the number of notices of a kind in the last 24 hours, by administrator. */
async function countTold(
  transaction: StoreTransaction,
  { company, kind, now }: NewNotice,
  ids: readonly (string | null)[],
): Promise<Map<string | null, number>> {
  const rows = await transaction
    .selectFrom('notices')
    .select(['administrator', sql<number | string>`COUNT(*)`.as('count')])
    .where('company', '=', company)
    .where('administrator', 'in', ids)
    .where('kind', '=', kind)
    .where('created_at', '>', new Date(now.getTime() - DAY_MS).toISOString())
    .groupBy('administrator')
    .execute();
  return new Map(rows.map(({ administrator, count }) => [administrator, Number(count)]));
}

export type Notice = Omit<RowOf<typeof notices>, 'dueAt' | 'lease'> & { kind: NoticeKind };

export function toNotice(row: Selectable<Tables['notices']>): Notice {
  // `addNotice` writes only known kinds.
  return readRow(notices, row) as Notice;
}

export const NOTICES_LISTED_MAX = 200;

/** Returns an administrator's notices, newest first, at most 200. */
export async function listNotices({ db }: Engine, { company, id }: AccountKey): Promise<Notice[]> {
  const rows = await db
    .selectFrom('notices')
    .selectAll()
    .where((row) => row.and({ company, administrator: id }))
    .orderBy('created_at', 'desc')
    .limit(NOTICES_LISTED_MAX)
    .execute();
  return rows.map(toNotice);
}

/** Returns the number of an administrator's notices that were neither mailed nor read, at most 200. */
export async function countUnseen({ db }: Engine, { company, id }: AccountKey): Promise<number> {
  const unseen = sql`(SELECT 1 FROM notices WHERE company = ${company} AND administrator = ${id} AND state = 'waiting'
    LIMIT ${sql.lit(NOTICES_LISTED_MAX)}) AS unseen`;
  return countRows(db, unseen);
}

/** Marks an administrator's waiting notices as read, on servers without mail. */
export async function markSeen(engine: Engine, { company, id }: AccountKey): Promise<void> {
  await engine.transaction(async (transaction) =>
    transaction
      .updateTable('notices')
      .set({ state: 'seen' })
      .where((row) => row.and({ company, administrator: id, state: 'waiting' }))
      .execute(),
  );
}

/** Returns the notice whose mail has an unsubscribe code; undefined if there is none. */
export async function findNotice(
  db: Connection,
  { company, id, stopSha256 }: AccountKey & { stopSha256: string },
): Promise<Notice | undefined> {
  const row = await db
    .selectFrom('notices')
    .selectAll()
    .where((row) => row.and({ company, id }))
    .where('stop_sha256', '=', stopSha256)
    .executeTakeFirst();
  return row && toNotice(row);
}
