import { scopeOfEvent } from '../contract/events.ts';
import type { Scope } from '../contract/scopes.ts';
import { quote, UsageError } from '../errors.ts';
import type { Administrator } from '../store/administrators.ts';
import type { Deed } from '../store/deeds.ts';
import { findWebhookOfDeed, type Webhook } from '../store/webhooks.ts';

/**
 * The webhook that something is done to.
 * @throws UsageError when the company has no such webhook, or whoever does it may not see what its events carry:
 *   whoever may not choose an event (service.md, "Registering a webhook") may not stop or repeat it either.
 */
export async function getWebhookOfDeed(deed: Deed, id: string): Promise<Webhook> {
  const webhook = await findWebhookOfDeed(deed, id);
  if (!webhook) throw unknownWebhook({ company: deed.company, webhook: id });
  const reason = deed.by === 'operator' ? undefined : whyNotTouch(webhook, deed.by);
  if (reason !== undefined) throw new UsageError(reason);
  return webhook;
}

/** Why an administrator can do nothing to a webhook: its events carry what they may not see. Undefined when they can. */
export function whyNotTouch(
  { events }: Pick<Webhook, 'events'>,
  { scopes }: Pick<Administrator, 'scopes'>,
): string | undefined {
  const needed = new Set<Scope>(events.map(scopeOfEvent));
  const missing = [...needed].filter((scope) => !scopes.includes(scope));
  if (missing.length === 0) return undefined;
  return `You have no access to data that this webhook sends: ${missing.join(', ')}. Ask an administrator who has it.`;
}

export function unknownWebhook({ company, webhook }: { company: string; webhook: string }): UsageError {
  return new UsageError(`The company ${quote(company)} has no webhook ${quote(webhook)}.`);
}
