import type { AuthorisedTransaction } from '../../store/accounts/authorised-transaction.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import { readRow, type RowOf, writeRow } from '../../store/tables/table.ts';
import { webhooks } from '../../store/tables/webhooks.ts';

/** A webhook, without its secret. */
export type Webhook = Pick<
  RowOf<typeof webhooks>,
  'id' | 'company' | 'url' | 'events' | 'createdAt' | 'pausedAt' | 'failingSince' | 'madeBy'
>;

/** The host that a webhook leads to, by which people know it: the path or the query of an address may hold a password. */
export function webhookHost({ url }: { url: string }): string {
  return URL.parse(url)?.host ?? url;
}

/**
 * Adds a webhook unless the company has `webhooksMax`. The transaction has the company's lock, so there is never one too
 * many.
 */
export async function insertWebhook(
  authorised: AuthorisedTransaction,
  webhook: Omit<Webhook, 'pausedAt' | 'failingSince'>,
  storedSecret: string,
  webhooksMax: number,
): Promise<'created' | 'limit reached'> {
  const { transaction, company } = authorised;
  const present = await transaction
    .selectFrom('webhooks')
    .select('id')
    .where('company', '=', company)
    .where('deleted_at', 'is', null)
    .execute();
  if (present.length >= webhooksMax) return 'limit reached';
  await transaction
    .insertInto('webhooks')
    .values({
      ...writeRow(webhooks, { ...webhook, company }),
      secret: storedSecret,
    })
    .execute();
  return 'created';
}

const SHOWN = [
  'id',
  'company',
  'url',
  'events',
  'created_at',
  'paused_at',
  'failing_since',
  'made_by',
] as const;

/** The webhooks of a company that weren't deleted, oldest first. */
export async function listWebhookRows({ db }: { db: Connection }, company: string): Promise<Webhook[]> {
  const rows = await db
    .selectFrom('webhooks')
    .select(SHOWN)
    .where('company', '=', company)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => readRow(webhooks, row));
}

/** A webhook of a company that wasn't deleted. */
export async function findWebhookRow(
  db: Connection,
  company: string,
  id: string,
): Promise<Webhook | undefined> {
  const row = await db
    .selectFrom('webhooks')
    .select(SHOWN)
    .where((row) => row.and({ company, id }))
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row && readRow(webhooks, row);
}

/**
 * Marks a webhook deleted: it is no longer shown, and nothing is sent to it. Its row and its deliveries, of which there
 * may be a million, are removed later in small batches. Changes of the company's records take the same lock,
 * so each of them happens before or after the deletion.
 */
export async function deleteWebhookRow(authorised: AuthorisedTransaction, webhook: Webhook): Promise<void> {
  await authorised.transaction
    .updateTable('webhooks')
    .set({ deleted_at: authorised.now.toISOString() })
    .where((row) => row.and({ company: authorised.company, id: webhook.id }))
    .execute();
}

/**
 * Pauses a webhook, so that its deliveries wait, or resumes it. A webhook that is paused already keeps the time since
 * which it is paused.
 */
export async function setWebhookPaused(
  authorised: AuthorisedTransaction,
  webhook: Webhook,
  isPaused: boolean,
): Promise<Webhook> {
  const { engine, transaction, company, now } = authorised;
  if ((webhook.pausedAt !== null) === isPaused) return webhook;
  const pausedAt = isPaused ? now.toISOString() : null;
  await transaction
    .updateTable('webhooks')
    // Failures of before are no news after a pause.
    .set({ paused_at: pausedAt, ...(!isPaused && { failing_since: null }) })
    .where((row) => row.and({ company, id: webhook.id }))
    .execute();
  if (!isPaused) await engine.dialect.tellWorkers(transaction);
  return { ...webhook, pausedAt, ...(!isPaused && { failingSince: null }) };
}
