import { randomBytes } from 'node:crypto';

import {
  isSubscribableKind,
  type SubscribableKind,
  subscribableKinds,
  scopeOfEvent,
} from '../../../contract/events.ts';
import type { Scope } from '../../../contract/scopes.ts';
import { maySeeEvent, scopesLacked } from '../../../contract/withholding.ts';
import { quote, unknownName, UsageError } from '../../../errors.ts';
import { checkedLine } from '../../access/checked-input.ts';
import type { Administrator } from '../../store/accounts/administrator-rows.ts';
import { getCompany } from '../../store/records/companies.ts';
import {
  type Act,
  type Authority,
  type AuthorisedTransaction,
  authorisedTransaction,
} from '../../store/accounts/authorised-transaction.ts';
import { actorId, type AuditAction } from '../../store/accounts/audit-trail.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { writeRow } from '../../store/tables/table.ts';
import { webhooks } from '../../store/tables/webhooks.ts';
import { eventsEver, findWebhookRow, listWebhookRows, namesOf, type Webhook } from './stored-webhooks.ts';
import type { SecretBox } from '../../process/secret-box.ts';
import { canonicalWebhookUrl } from '../../sending/webhook-urls.ts';

/** Maximum number of webhooks of a company (openapi.yaml, "Webhooks"). */
export const WEBHOOKS_MAX = 10;
const WEBHOOK_ID_BYTES = 6;
const SECRET_BYTES = 32;

/**
 * Makes a new signing secret: `whsec_` and 32 random bytes in base64. The whole text is the key of the signature
 * (openapi.yaml, "Verify the signature").
 */
export function mintSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/**
 * Registers a webhook (openapi.yaml, "Webhooks"). Several may have the same address.
 * @param options.events kinds of events; duplicates are ignored.
 * @param options.by the authority, here and below; an operator by default. An administrator can choose only events whose data
 *   they can see themselves.
 * @returns the webhook's signing secret, which can't be shown again, and its record.
 * @throws UsageError that names the refused address, event or company, and when there are 10 webhooks already; also what
 *   `authorisedTransaction` throws.
 */
export async function createWebhook(
  engine: Engine,
  box: SecretBox,
  options: {
    company: string;
    url: string;
    description?: string;
    events: readonly string[];
    by?: Authority;
    now: Date;
  },
): Promise<{ secret: string; record: Webhook }> {
  const { company, by = 'operator', now } = options;
  const url = canonicalWebhookUrl(options.url);
  const description = checkedDescription(options.description ?? '');
  return authorisedTransaction(engine, { company, by, now }, async (authorised) => {
    const events = validateEvents(options.events, scopesOf(authorised));
    return registerIn(authorised, box, { url, description, events, replaces: null });
  });
}

const scopesOf = ({ by }: AuthorisedTransaction) => (by === 'operator' ? undefined : by.scopes);

/** Registers a webhook like `createWebhook`, but within the caller's transaction and with checked values. */
export async function registerIn(
  authorised: AuthorisedTransaction,
  box: SecretBox,
  given: Pick<Webhook, 'url' | 'description' | 'events' | 'replaces'>,
): Promise<{ secret: string; record: Webhook }> {
  const { company, now } = authorised;
  const secret = mintSecret();
  const id = `whk_${randomBytes(WEBHOOK_ID_BYTES).toString('hex')}`;
  // The transaction holds the company's lock, so the limit can't be exceeded.
  const present = await listWebhookRows({ db: authorised.transaction }, company);
  if (present.length >= WEBHOOKS_MAX)
    throw new UsageError(
      `The company already has ${WEBHOOKS_MAX} webhooks, the most it can have. Delete one first.`,
    );
  const of = { ...given, id, company, createdAt: now.toISOString(), madeBy: actorId(authorised.by) };
  const row = { ...writeRow(webhooks, of), secret: box.seal(secret, of) };
  await authorised.transaction.insertInto('webhooks').values(row).execute();
  const record: Webhook = { ...of, pastEvents: [], pausedAt: null, failingSince: null, isFailing: false };
  await recordOf(authorised, 'webhook.registered', record, { events: of.events.join(' ') });
  return { secret, record };
}

/**
 * Changes a webhook's description or its events. Events are checked as in `createWebhook`. Deliveries that wait are still
 * sent, because their events happened before.
 * @throws UsageError of the field `events` or `description`, or while its secret is being replaced; and what
 *   `authorisedTransaction` and `getWebhookToChange` throw.
 */
export async function changeWebhook(
  engine: Engine,
  given: Act & { id: string; events?: readonly string[] | undefined; description?: string | undefined },
): Promise<Webhook> {
  return authorisedTransaction(engine, given, async (authorised) => {
    const webhook = await getWebhookToChange(authorised, given.id);
    const events = given.events ? validateEvents(given.events, scopesOf(authorised)) : webhook.events;
    const description = checkedDescription(given.description ?? webhook.description);
    const details = {
      ...(description !== webhook.description && { description: description || 'none' }),
      ...(events.join() !== webhook.events.join() && { events: events.join(' ') }),
    };
    if (Object.keys(details).length === 0) return webhook;
    const present = await listWebhookRows({ db: authorised.transaction }, authorised.company);
    if (present.some(({ replaces }) => replaces === webhook.id))
      throw new UsageError(
        'The secret of this webhook is being replaced. Change the webhook with the new secret.',
      );
    const pastEvents = eventsEver(webhook).filter((kind) => !events.includes(kind));
    await change(authorised, webhook, {
      description,
      events: JSON.stringify(events),
      past_events: JSON.stringify(pastEvents),
    });
    await recordOf(authorised, 'webhook.changed', webhook, details);
    return { ...webhook, description, events, pastEvents };
  });
}

/** Checks a description, which may be empty. @throws UsageError of the field `description`. */
export function checkedDescription(given: string): string {
  return given.trim() === '' ? '' : checkedLine(given, 'The description', 'description');
}

/**
 * Lists a company's webhooks, oldest first, without their secrets.
 * @throws UsageError when there is no such company.
 */
export async function listWebhooks(engine: Engine, company: string): Promise<Webhook[]> {
  await getCompany(engine, company);
  return listWebhookRows(engine, company);
}

/** Deletes a webhook: no further attempt begins, and the webhook is no longer shown. */
export const deleteWebhook = webhookChange(deleteIn);

/**
 * Deletes a webhook like `deleteWebhook`, but within the caller's transaction. The row is only marked; it and its deliveries,
 * possibly a million, are removed later in small batches. Changes to the company's records take the same lock, so each of
 * them happens either before or after the deletion.
 */
export async function deleteIn(authorised: AuthorisedTransaction, webhook: Webhook): Promise<Webhook> {
  await change(authorised, webhook, { deleted_at: authorised.now.toISOString() });
  const { transaction, company } = authorised;
  const replaced = transaction.updateTable('webhooks').set({ replaces: null }).where('company', '=', company);
  await replaced.where('replaces', '=', webhook.id).execute();
  await recordOf(authorised, 'webhook.deleted', webhook);
  return webhook;
}

async function change(
  { transaction, company }: AuthorisedTransaction,
  { id }: Webhook,
  changes:
    | { deleted_at: string }
    | { paused_at: string | null; failing_since?: null }
    | { description: string; events: string; past_events: string },
): Promise<void> {
  await transaction
    .updateTable('webhooks')
    .set(changes)
    .where((row) => row.and({ company, id }))
    .execute();
}

/**
 * Pauses a webhook: no further attempt begins. New events and due retries wait for it, 30 days at most. Pausing a paused
 * webhook changes nothing.
 */
export const pauseWebhook = webhookChange((authorised, webhook) => setPaused(authorised, webhook, true));

/**
 * Resumes a webhook: waiting deliveries are sent at once, a few at a time. Resuming a webhook that isn't paused changes
 * nothing.
 */
export const resumeWebhook = webhookChange((authorised, webhook) => setPaused(authorised, webhook, false));

async function setPaused(
  authorised: AuthorisedTransaction,
  webhook: Webhook,
  isPaused: boolean,
): Promise<Webhook> {
  if ((webhook.pausedAt !== null) === isPaused) return webhook;
  const pausedAt = isPaused ? authorised.now.toISOString() : null;
  // Failures from before a pause are no longer news.
  await change(authorised, webhook, { paused_at: pausedAt, ...(!isPaused && { failing_since: null }) });
  if (!isPaused) await authorised.engine.dialect.tellWorkers(authorised.transaction);
  await recordOf(authorised, isPaused ? 'webhook.paused' : 'webhook.resumed', webhook);
  return { ...webhook, pausedAt, failingSince: isPaused ? webhook.failingSince : null, isFailing: false };
}

async function recordOf(
  authorised: AuthorisedTransaction,
  action: AuditAction,
  webhook: Webhook,
  more: Record<string, string> = {},
): Promise<void> {
  const details = { ...namesOf(webhook), ...more };
  await authorised.record({ action, subject: webhook.id, details, events: webhook.events });
}

/**
 * Makes a function that changes a webhook in an authorised transaction and returns its new state, or a deleted webhook's
 * last. The function throws what `authorisedTransaction` and `getWebhookToChange` throw.
 */
function webhookChange(act: (authorised: AuthorisedTransaction, webhook: Webhook) => Promise<Webhook>) {
  return (engine: Engine, company: string, id: string, now: Date, by: Authority = 'operator') =>
    authorisedTransaction(engine, { company, by, now }, async (authorised) =>
      act(authorised, await getWebhookToChange(authorised, id)),
    );
}

/**
 * Returns the webhook that an authorised transaction is to change.
 * @throws UsageError when the company has no such webhook, or the administrator can't see the data of all events that it has
 *   or had: whoever can't choose an event can't stop or repeat it either.
 */
export async function getWebhookToChange(authorised: AuthorisedTransaction, id: string): Promise<Webhook> {
  const webhook = await findWebhookRow(authorised.transaction, authorised.company, id);
  if (!webhook) throw unknownWebhook({ company: authorised.company, webhook: id });
  const reason = authorised.by === 'operator' ? undefined : whyNotTouch(webhook, authorised.by);
  if (reason !== undefined) throw new UsageError(reason);
  return webhook;
}

/**
 * Returns why an administrator can't change a webhook, which is that it sends or sent data they can't see; otherwise
 * undefined.
 */
export function whyNotTouch(
  webhook: Pick<Webhook, 'events' | 'pastEvents'>,
  { scopes }: Pick<Administrator, 'scopes'>,
): string | undefined {
  const missing = scopesLacked(scopes, eventsEver(webhook));
  if (missing.length === 0) return undefined;
  return `This webhook sends or sent data that you have no access to: ${missing.join(', ')}. Ask an administrator who has it.`;
}

export function unknownWebhook({ company, webhook }: { company: string; webhook: string }): UsageError {
  return new UsageError(`The company ${quote(company)} has no webhook ${quote(webhook)}.`);
}

/**
 * Checks chosen events, and returns them in the contract's order.
 * @param held the scopes of an administrator, who can choose only events whose data they can see.
 * @throws UsageError of the field `events` that names the refused event, and when no event is chosen.
 */
export function validateEvents(
  given: readonly string[],
  held: readonly Scope[] | undefined,
): SubscribableKind[] {
  const refuse = (reason: string): never => {
    throw new UsageError(reason, { field: 'events' });
  };
  if (given.length === 0) refuse('Choose at least one event.');
  for (const event of given) {
    if (event === 'ping') refuse('"ping" can\'t be chosen: every webhook gets it when you send a test.');
    if (!isSubscribableKind(event)) refuse(unknownName(event, 'an event', subscribableKinds));
    else if (held && !maySeeEvent(held, event))
      refuse(`To choose ${quote(event)} you need ${scopeOfEvent(event)}.`);
  }
  return subscribableKinds.filter((kind) => given.includes(kind));
}
