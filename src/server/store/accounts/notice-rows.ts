import { randomUUIDv7 } from 'node:crypto';

import { type Selectable, sql } from 'kysely';

import { DAY_MS } from '../../../contract/durations.ts';
import type { MoveEventKind } from '../../../contract/events.ts';
import { maySeeEvent } from '../../../contract/withholding.ts';
import { notices } from '../tables/accounts.ts';
import { readRow, type RowOf } from '../tables/table.ts';
import type { Tables } from '../tables/tables.ts';
import { countRows } from '../batches.ts';
import type { Connection } from '../dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import { type AccountKey, listAdministratorRows } from './administrator-rows.ts';

/**
 * The kinds of notices. Most are actions of the audit trail, which adds their notices (audit-trail.ts). `reset.asked` and
 * `invitation.created` mail a link; the latter's recipient has no account. See features/notices/texts.ts for their words.
 */
export type NoticeKind =
  | 'webhook.failing'
  | 'webhook.recovered'
  | 'webhook.losing'
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
  /** The values in its sentences, by name (features/notices/texts.ts). Never a secret. */
  details: Readonly<Record<string, string>>;
  /** The one administrator whom it concerns, or null for somebody who is invited; all administrators, unless given. */
  administrator?: string | null;
  /** An administrator who isn't told. */
  except?: string | null;
  /** The events of a webhook: only who may see the data of one of them is told. */
  events?: readonly MoveEventKind[] | undefined;
  now: Date;
}

/** Notices of one kind for one person in 24 hours: nobody reads more, and a flood of one kind hides no other. */
const TOLD_MAX = 20;

/**
 * Tells administrators of something, in the transaction in which it happens. Each gets a mail, where the operator has set
 * mail up and the administrator hasn't stopped that kind, and sees it on their page of notices for 30 days. The 20th of a kind
 * in 24 hours says that further ones aren't told (`isLast`). Links are always mailed, because those who ask for them are limited.
 */
export async function addNotice(transaction: StoreTransaction, notice: NewNotice): Promise<void> {
  const { company, kind, details, administrator, except, events, now } = notice;
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
    return count > TOLD_MAX ? [] : [{ ...row, id: randomUUIDv7(), administrator: id, details: all }];
  });
  if (rows.length > 0) await transaction.insertInto('notices').values(rows).execute();
}

/** How often each administrator was told of a kind in the 24 hours before. */
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
  // The kind was written by `addNotice`.
  return readRow(notices, row) as Notice;
}

export const NOTICES_LISTED_MAX = 200;

/** The notices of an administrator, the newest first, 200 at most. */
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

/** Counts the notices of an administrator that were neither mailed nor read, up to the 200 that are listed. */
export async function countUnseen({ db }: Engine, { company, id }: AccountKey): Promise<number> {
  const unseen = sql`(SELECT 1 FROM notices WHERE company = ${company} AND administrator = ${id} AND state = 'waiting'
    LIMIT ${sql.lit(NOTICES_LISTED_MAX)}) AS unseen`;
  return countRows(db, unseen);
}

/** Notes that an administrator has read their notices, where nobody mails. */
export async function markSeen(engine: Engine, { company, id }: AccountKey): Promise<void> {
  await engine.transaction(async (transaction) =>
    transaction
      .updateTable('notices')
      .set({ state: 'seen' })
      .where((row) => row.and({ company, administrator: id, state: 'waiting' }))
      .execute(),
  );
}

/** The notice whose mail has a code that stops mails of its kind. */
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
