import { randomBytes } from 'node:crypto';

import { sql } from 'kysely';

import { DAY_MS } from '../../../contract/durations.ts';
import type { SubscribableKind } from '../../../contract/events.ts';
import { countRows } from '../batches.ts';
import type { Connection } from '../dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import { ofAllCompanies } from '../machines.ts';
import { auditEntries } from '../tables/accounts.ts';
import { readRow, type RowOf, writeRow } from '../tables/table.ts';
import { addNotice, isTold, recipients } from './notice-rows.ts';

export type AuditEntry = RowOf<typeof auditEntries> & { action: AuditAction };

/** Plain-English names of all actions that the audit trail records, by action. */
export const auditActions = {
  'administrator.signed_in': 'Signed in',
  'administrator.sign_in_failed': 'Failed to sign in: wrong password or code',
  'administrator.signed_out': 'Signed somebody out everywhere',
  'administrator.changed_password': 'Changed their password',
  'administrator.added': 'Came in by a portal link for the first time',
  'administrator.access_changed': 'Changed access',
  'administrator.removed': 'Removed an administrator',
  'invitation.created': 'Invited somebody',
  'invitation.accepted': 'Accepted an invitation',
  'invitation.withdrawn': 'Withdrew an invitation',
  'reset.created': 'Made a link to set a password',
  'reset.asked': 'Asked for a password link by email',
  'reset.used': 'Set a new password by a link',
  'second_factor.added': 'Set up their second factor',
  'second_factor.codes_renewed': 'Made new recovery codes',
  'second_factor.removed': 'Removed a second factor',
  'second_factor.reset': 'Reset somebody’s second factor',
  'second_factor.required': 'Required a second factor of all administrators',
  'second_factor.optional': 'No longer requires a second factor',
  'key.created': 'Created an API key',
  'key.changed': 'Changed an API key',
  'key.revoked': 'Revoked an API key',
  'webhook.registered': 'Registered a webhook',
  'webhook.changed': 'Changed a webhook',
  'webhook.paused': 'Paused a webhook',
  'webhook.resumed': 'Resumed a webhook',
  'webhook.pinged': 'Sent a webhook a ping',
  'webhook.sampled': 'Sent a webhook a test',
  'webhook.deleted': 'Deleted a webhook',
  'delivery.sent_again': 'Sent a delivery again',
  'deliveries.recovered': 'Sent failed deliveries again',
  'document.handed_over_again': 'Handed documents over again',
} as const;

export type AuditAction = keyof typeof auditActions;

/** The network address and User-Agent header of a browser. */
export interface Origin {
  address: string;
  client: string;
}

/** The author of an action: an administrator with their browser, or an operator at the command line. */
export type AuditActor = ({ id: string; name: string } & Origin) | 'operator';

/** Returns an actor's id for a column with an administrator; null for an operator. */
export function actorId(actor: { id: string } | 'operator'): string | null {
  return actor === 'operator' ? null : actor.id;
}

export interface NewAuditEntry {
  company: string;
  by: AuditActor;
  action: AuditAction;
  /** Id of the record that the action is about; absent if there is none. */
  subject?: string;
  /** Further details of the action, by name. Never a secret. */
  details?: Readonly<Record<string, string>>;
  /** A webhook's events: only administrators allowed to see the data of at least one of them are told. */
  events?: readonly SubscribableKind[];
  now: Date;
}

const KEPT_DAYS = 730;
const OLD_AT_ONCE = 20;

/** Adds an entry to the audit trail, and the notices about it, in the transaction of the recorded action. */
export async function recordEntry(transaction: StoreTransaction, entry: NewAuditEntry): Promise<void> {
  const { company, by, action, subject = null, details = {}, events, now } = entry;
  const actor = by === 'operator' ? { name: 'Operator', address: null, client: null } : by;
  const values = writeRow(auditEntries, {
    ...{ company, id: mintId(now), at: now.toISOString(), action, subject, details },
    ...{ administrator: actorId(by), administratorName: actor.name },
    ...{ address: actor.address, client: actor.client },
  });
  await transaction.insertInto('audit_entries').values(values).execute();
  if (!isTold(action)) return;
  const to = recipients[action];
  const told = {
    ...{ company, kind: action, now, events },
    details: { by: by === 'operator' ? 'The operator' : by.name, ...details },
  };
  if (to === 'all' || to === 'others')
    await addNotice(transaction, { ...told, except: to === 'others' ? actorId(by) : null });
  else await addNotice(transaction, { ...told, administrator: subject });
  if (to === 'both' && by !== 'operator') await addNotice(transaction, { ...told, administrator: by.id });
}

/** Deletes some of the entries older than two years; call it regularly to delete all. */
export async function forgetOldEntries(engine: Engine, now: Date): Promise<void> {
  const oldestAt = new Date(now.getTime() - KEPT_DAYS * DAY_MS).toISOString();
  const found = await ofAllCompanies(
    engine,
    (isReached) => sql<{ company: string }>`
      SELECT DISTINCT company FROM (
        SELECT company FROM audit_entries WHERE at < ${oldestAt} AND ${isReached('company')} LIMIT ${sql.lit(OLD_AT_ONCE)}
      ) AS old`,
  );
  // PostgreSQL uses a function of the owner's, because other roles can't delete entries. Ids grow with time.
  for (const { company } of found)
    await engine.write(
      engine.dialect.isShared
        ? sql`SELECT forget_old_audit_entries(${company}, ${oldestAt})`
        : sql`DELETE FROM audit_entries WHERE company = ${company} AND at < ${oldestAt} AND id IN (
            SELECT id FROM audit_entries WHERE company = ${company} ORDER BY id LIMIT ${sql.lit(OLD_AT_ONCE)}
          )`,
    );
}

const COUNTER_MAX = 0xffff;
let counter = 0;

/** Returns a new id that sorts in the order of the entries, even within a millisecond. */
function mintId(now: Date): string {
  counter = counter === COUNTER_MAX ? 0 : counter + 1;
  return `${timeInId(now)}-${counter.toString(16).padStart(4, '0')}-${randomBytes(6).toString('hex')}`;
}

function timeInId(at: Date): string {
  return at.getTime().toString(16).padStart(12, '0');
}

export interface AuditFilter {
  action?: AuditAction | undefined;
  administrator?: string | undefined;
  from?: Date | undefined;
  /** The end, which is excluded. */
  until?: Date | undefined;
}

/** Returns a company's entries before the one with an id, newest first. */
export async function listAuditRows(
  { db }: Engine,
  company: string,
  { before, limit, ...filter }: AuditFilter & { before?: string | undefined; limit: number },
): Promise<AuditEntry[]> {
  let query = filtered(db, company, filter).selectAll().orderBy('id', 'desc').limit(limit);
  if (before !== undefined) query = query.where('id', '<', before);
  // The actions were written by `recordEntry`.
  return (await query.execute()).map((row) => readRow(auditEntries, row) as AuditEntry);
}

/** Counts a company's entries, up to `countMax`. */
export async function countAuditEntries(
  db: Connection,
  company: string,
  filter: AuditFilter,
  countMax: number,
): Promise<number> {
  const found = filtered(db, company, filter).select('id').limit(countMax);
  return countRows(db, sql`${found} AS found`);
}

function filtered(db: Connection, company: string, { action, administrator, from, until }: AuditFilter) {
  let query = db.selectFrom('audit_entries').where('company', '=', company);
  if (action !== undefined) query = query.where('action', '=', action);
  if (administrator !== undefined) query = query.where('administrator', '=', administrator);
  // Ids begin with the time.
  if (from !== undefined) query = query.where('id', '>=', timeInId(from));
  if (until !== undefined) query = query.where('id', '<', timeInId(until));
  return query;
}
