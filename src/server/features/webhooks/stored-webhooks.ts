import type { Connection } from '../../store/dialects/dialect.ts';
import { readRow, type RowOf } from '../../store/tables/table.ts';
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
