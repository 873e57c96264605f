import type { Selectable } from 'kysely';

import type { MoveEventKind } from '../contract/events.ts';
import { lockCompany } from './companies.ts';
import type { Engine } from './engine.ts';
import { tellWorkers } from './notifications.ts';
import type { Tables } from './schema.ts';

/** A webhook as administrators see it: never its secret. */
export interface Webhook {
  id: string;
  company: string;
  /** In its canonical form. */
  url: string;
  events: MoveEventKind[];
  createdAt: string;
  /** Since when its deliveries wait; null while they are sent. */
  pausedAt: string | null;
}

/** Adds a webhook unless the company has so many; counted under the company's lock, so never one too many. */
export async function insertWebhook(
  engine: Engine,
  webhook: Omit<Webhook, 'pausedAt'>,
  storedSecret: string,
  webhooksMax: number,
): Promise<'created' | 'no company' | 'limit reached'> {
  return engine.transaction(async (transaction) => {
    if (!(await lockCompany(engine, transaction, webhook.company))) return 'no company';
    const present = await transaction
      .selectFrom('webhooks')
      .select('id')
      .where('company', '=', webhook.company)
      .where('deleted_at', 'is', null)
      .execute();
    if (present.length >= webhooksMax) return 'limit reached';
    await transaction
      .insertInto('webhooks')
      .values({
        company: webhook.company,
        id: webhook.id,
        url: webhook.url,
        events: JSON.stringify(webhook.events),
        secret: storedSecret,
        created_at: webhook.createdAt,
      })
      .execute();
    return 'created';
  });
}

const SHOWN = ['id', 'company', 'url', 'events', 'created_at', 'paused_at'] as const;

/** The webhooks of a company that weren't deleted, oldest first. */
export async function listWebhookRows(engine: Engine, company: string): Promise<Webhook[]> {
  const rows = await engine.db
    .selectFrom('webhooks')
    .select(SHOWN)
    .where('company', '=', company)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toWebhook);
}

/**
 * Marks a webhook deleted, after which nothing of it is seen or sent; undefined when there is none. Its row, and the
 * deliveries that there may be a million of, are removed in small batches later.
 *
 * Under the company's lock, so that a change that is under way either knows it or doesn't.
 */
export async function deleteWebhookRow(
  engine: Engine,
  company: string,
  id: string,
  deletedAt: string,
): Promise<Webhook | undefined> {
  return engine.transaction(async (transaction) => {
    await lockCompany(engine, transaction, company);
    const row = await transaction
      .updateTable('webhooks')
      .set({ deleted_at: deletedAt })
      .where('company', '=', company)
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .returning(SHOWN)
      .executeTakeFirst();
    return row && toWebhook(row);
  });
}

/**
 * Pauses a webhook, after which no lease is taken on its deliveries, or lets it go on; undefined when there is none.
 * One that is paused already stays so since then.
 */
export async function setWebhookPaused(
  engine: Engine,
  company: string,
  id: string,
  pausedAt: string | null,
): Promise<Webhook | undefined> {
  return engine.transaction(async (transaction) => {
    await lockCompany(engine, transaction, company);
    const row = await transaction
      .updateTable('webhooks')
      .set((row) => ({
        paused_at: pausedAt === null ? null : row.fn.coalesce('paused_at', row.val(pausedAt)),
      }))
      .where('company', '=', company)
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .returning(SHOWN)
      .executeTakeFirst();
    if (row && pausedAt === null) await tellWorkers(engine, transaction);
    return row && toWebhook(row);
  });
}

function toWebhook(row: Pick<Selectable<Tables['webhooks']>, (typeof SHOWN)[number]>): Webhook {
  return {
    id: row.id,
    company: row.company,
    url: row.url,
    // Written by `insertWebhook` from checked events.
    events: JSON.parse(row.events) as Webhook['events'],
    createdAt: row.created_at,
    pausedAt: row.paused_at,
  };
}

/** A secret as it is stored, and whose it is. */
export interface StoredSecret {
  company: string;
  id: string;
  secret: string;
}

/** The stored secrets of every company, those of deleted webhooks too: so many after one, in the order of the keys. */
export async function listStoredSecrets(
  engine: Engine,
  after: Pick<StoredSecret, 'company' | 'id'>,
  limit: number,
): Promise<StoredSecret[]> {
  return engine.db
    .selectFrom('webhooks')
    .select(['company', 'id', 'secret'])
    .where((row) => row(row.refTuple('company', 'id'), '>', row.tuple(after.company, after.id)))
    .orderBy('company')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Stores a secret in another form, unless somebody did that meanwhile. */
export async function replaceStoredSecret(
  engine: Engine,
  stored: StoredSecret,
  secret: string,
): Promise<void> {
  await engine.transaction(async (transaction) => {
    await transaction
      .updateTable('webhooks')
      .set({ secret })
      .where('company', '=', stored.company)
      .where('id', '=', stored.id)
      .where('secret', '=', stored.secret)
      .execute();
  });
}
