import { sql } from 'kysely';

import type { Connection } from '../../store/dialects/dialect.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { boundTo, ofAllCompanies, type StatementCompany } from '../../store/machines.ts';
import { readRow, type RowOf } from '../../store/tables/table.ts';
import { webhooks } from '../../store/tables/webhooks.ts';

/** A webhook, without its secret. */
export interface Webhook extends Omit<
  RowOf<typeof webhooks>,
  'deletedAt' | 'pingedAt' | 'failingToldAt' | 'failedToldAt'
> {
  isFailing: boolean;
}

/** Returns the host of a webhook's address, which is shown to people: the path or the query may hold a password. */
export function webhookHost({ url }: { url: string }): string {
  return URL.parse(url)?.host ?? url;
}

/** Returns a webhook's description, or else the host of its address, and whether it brings a new secret. */
export function webhookName(webhook: Pick<Webhook, 'url' | 'description' | 'replaces'>): string {
  return `${webhook.description || webhookHost(webhook)}${webhook.replaces === null ? '' : ' (new secret)'}`;
}

/** Returns what notices and the audit trail tell of a webhook: its name only if that isn't the host. */
export function namesOf(webhook: Parameters<typeof webhookName>[0] & { id: string }) {
  const [host, name] = [webhookHost(webhook), webhookName(webhook)];
  return { webhook: webhook.id, host, ...(name !== host && { name }) };
}

/** Returns the events that a webhook has or had: of these, deliveries may be in its history. */
export function eventsEver({ events, pastEvents }: Pick<Webhook, 'events' | 'pastEvents'>) {
  return [...events, ...pastEvents];
}

/**
 * Condition for a failing webhook `w`: an attempt failed, however long ago, and nothing has been delivered since. Pages,
 * `status` and metrics all use it. A paused webhook sends nothing, so it isn't failing.
 */
export const isFailing = (company?: StatementCompany) => sql<boolean>`
  w.failing_since IS NOT NULL AND w.paused_at IS NULL AND w.deleted_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM webhook_hours AS h WHERE h.company = w.company AND h.webhook = w.id
    AND h.hour >= substr(w.failing_since, 1, 13) AND h.last_delivered_at > w.failing_since
    AND ${boundTo(company, 'h.company')})`;

/** Counts the failing webhooks of all companies. */
export async function countFailing(engine: Engine): Promise<number> {
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<{ count: number | string }>`
      SELECT COUNT(*) AS count FROM webhooks AS w WHERE ${isFailing()} AND ${isReached('w.company')}`,
  );
  return rows.reduce((sum, { count }) => sum + Number(count), 0);
}

/** Lists a company's webhooks that aren't deleted, oldest first. */
export async function listWebhookRows({ db }: { db: Connection }, company: string): Promise<Webhook[]> {
  const rows = await presentIn(db, company).orderBy('created_at').orderBy('id').execute();
  return rows.map(toWebhook);
}

/** Finds a company's webhook; undefined if there is none or it was deleted. */
export async function findWebhookRow(
  db: Connection,
  company: string,
  id: string,
): Promise<Webhook | undefined> {
  const row = await presentIn(db, company).where('id', '=', id).executeTakeFirst();
  return row && toWebhook(row);
}

function presentIn(db: Connection, company: string) {
  return db
    .selectFrom('webhooks as w')
    .select(['id', 'company', 'url', 'description', 'events', 'past_events', 'created_at', 'paused_at'])
    .select(['failing_since', 'made_by', 'replaces'])
    .select(sql<number>`CASE WHEN ${isFailing(company)} THEN 1 ELSE 0 END`.as('is_failing'))
    .where('w.company', '=', company)
    .where('w.deleted_at', 'is', null);
}

type WebhookRow = Awaited<ReturnType<ReturnType<typeof presentIn>['execute']>>[number];

function toWebhook(row: WebhookRow): Webhook {
  return { ...readRow(webhooks, row), isFailing: row.is_failing === 1 };
}
