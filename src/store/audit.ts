import { randomBytes } from 'node:crypto';

import type { Selectable } from 'kysely';

import type { Engine, StoreTransaction } from './engine.ts';
import type { AuditEntriesTable } from './portal-schema.ts';

/** One line of the audit trail: who did what, when, from where, to what. */
export interface AuditEntry {
  id: string;
  company: string;
  at: string;
  /** Null for an operator. */
  administrator: string | null;
  /** As it was then. */
  administratorName: string;
  action: AuditAction;
  /** Id of what it was done to. */
  subject: string | null;
  details: Readonly<Record<string, string>>;
  /** Network address; null for an operator, who is at the command line. */
  address: string | null;
  /** The browser's User-Agent; null for an operator. */
  client: string | null;
}

/** Everything that the audit trail can tell of. */
export const auditActions = [
  'administrator.signed_in',
  'administrator.sign_in_failed',
  'administrator.changed_password',
  'administrator.removed',
  'invitation.created',
  'invitation.accepted',
  'invitation.withdrawn',
  'reset.created',
  'reset.used',
  'key.created',
  'key.revoked',
  'webhook.registered',
  'webhook.paused',
  'webhook.resumed',
  'webhook.pinged',
  'webhook.deleted',
  'delivery.sent_again',
  'deliveries.recovered',
] as const;

export type AuditAction = (typeof auditActions)[number];

export function isAuditAction(value: string): value is AuditAction {
  return (auditActions as readonly string[]).includes(value);
}

/** Where a browser is, and what it says that it is. */
export interface Origin {
  address: string;
  client: string;
}

/** Whom an entry names: an administrator with the browser that they use, or an operator at the command line. */
export type AuditActor = ({ id: string; name: string } & Origin) | 'operator';

/** What an actor is called where a table names an administrator; null for an operator. */
export function actorId(actor: { id: string } | 'operator'): string | null {
  return actor === 'operator' ? null : actor.id;
}

/** An entry as the audit trail gets it. */
export interface NewAuditEntry {
  company: string;
  by: AuditActor;
  action: AuditAction;
  /** Id of what it is done to. */
  subject?: string;
  /** What a reader wants to know beside that, by name: never a secret. */
  details?: Readonly<Record<string, string>>;
  now: Date;
}

const KEPT_DAYS = 730;
const DAY_MS = 86_400_000;
const OLD_AT_ONCE = 20;

/**
 * Adds a line to the company's audit trail in the unit of work that it tells of, so that neither is without the other.
 * Lines older than two years are removed, some with each new one.
 */
export async function recordEntry(transaction: StoreTransaction, entry: NewAuditEntry): Promise<void> {
  const { company, by, action, subject = null, details = {}, now } = entry;
  await transaction
    .insertInto('audit_entries')
    .values({
      company,
      id: mintId(now),
      at: now.toISOString(),
      administrator: actorId(by),
      administrator_name: by === 'operator' ? 'Operator' : by.name,
      action,
      subject,
      details: JSON.stringify(details),
      address: by === 'operator' ? null : by.address,
      client: by === 'operator' ? null : by.client,
    })
    .execute();
  const oldestAt = new Date(now.getTime() - KEPT_DAYS * DAY_MS).toISOString();
  // Ids grow with time, so the oldest lie at the beginning of the company's key.
  const oldest = await transaction
    .selectFrom('audit_entries')
    .select(['id', 'at'])
    .where('company', '=', company)
    .orderBy('id')
    .limit(OLD_AT_ONCE)
    .execute();
  const old = oldest.filter(({ at }) => at < oldestAt).map(({ id }) => id);
  if (old.length === 0) return;
  await transaction
    .deleteFrom('audit_entries')
    .where('company', '=', company)
    .where('id', 'in', old)
    .execute();
}

/** Entries of one kind about an administrator since a moment; so many at most are counted. */
export async function countAuditRows(
  transaction: StoreTransaction,
  { company, administrator, action }: { company: string; administrator: string; action: AuditAction },
  since: Date,
  countMax: number,
): Promise<number> {
  const rows = await transaction
    .selectFrom('audit_entries')
    .select('id')
    .where('company', '=', company)
    .where('administrator', '=', administrator)
    .where('action', '=', action)
    // Ids begin with the time.
    .where('id', '>=', timeInId(since))
    .limit(countMax)
    .execute();
  return rows.length;
}

const COUNTER_MAX = 0xffff;
let counter = 0;

/** Ids in the order of the entries: those of one moment too, because one action may be told in several. */
function mintId(now: Date): string {
  counter = counter === COUNTER_MAX ? 0 : counter + 1;
  return `${timeInId(now)}-${counter.toString(16).padStart(4, '0')}-${randomBytes(6).toString('hex')}`;
}

function timeInId(at: Date): string {
  return at.getTime().toString(16).padStart(12, '0');
}

export interface AuditFilter {
  action?: AuditAction | undefined;
  /** Id of an administrator. */
  administrator?: string | undefined;
}

/** So many lines of a company before one, the newest first. */
export async function listAuditRows(
  engine: Engine,
  company: string,
  { action, administrator, before, limit }: AuditFilter & { before?: string | undefined; limit: number },
): Promise<AuditEntry[]> {
  let query = engine.db
    .selectFrom('audit_entries')
    .selectAll()
    .where('company', '=', company)
    .orderBy('id', 'desc')
    .limit(limit);
  if (action !== undefined) query = query.where('action', '=', action);
  if (administrator !== undefined) query = query.where('administrator', '=', administrator);
  if (before !== undefined) query = query.where('id', '<', before);
  return (await query.execute()).map(toEntry);
}

function toEntry(row: Selectable<AuditEntriesTable>): AuditEntry {
  return {
    id: row.id,
    company: row.company,
    at: row.at,
    administrator: row.administrator,
    administratorName: row.administrator_name,
    // Written by `recordEntry`, as are the details.
    action: row.action as AuditAction,
    subject: row.subject,
    details: JSON.parse(row.details) as Record<string, string>,
    address: row.address,
    client: row.client,
  };
}
