import type { EventKind } from '../../../contract/events.ts';
import { maySeeEvent } from '../../../contract/withholding.ts';
import type { Administrator } from '../../store/accounts/administrator-rows.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { eventsEver, findWebhookRow, type Webhook } from './stored-webhooks.ts';
import { whyNotTouch } from './registration.ts';
import { notFound } from '../../views/page-error.ts';
import { type Html, html } from '../../views/html.ts';
import type { Visit } from '../../views/visit.ts';

/**
 * Returns the company's webhook whose id is in the page's URL.
 * @throws PageError 404 when the company has no such webhook.
 */
export async function getOwnWebhook(
  engine: Engine,
  { company, params }: Pick<Visit, 'company' | 'params'>,
): Promise<Webhook> {
  const webhook = await findWebhookRow(engine.db, company.id, params.id ?? '');
  if (!webhook) throw notFound();
  return webhook;
}

/** Returns a button that changes a webhook, or the reason why the administrator isn't allowed to press it. */
export function unlessRefused(webhook: Webhook, { administrator }: Visit, button: Html): Html {
  const reason = whyNotTouch(webhook, administrator);
  return reason === undefined ? button : html`<p class="hint">${reason}</p>`;
}

/** Lists the events that the webhook has or had and whose data an administrator may see, plus `ping`. */
export function visibleKinds(
  { scopes }: Administrator,
  webhook: Pick<Webhook, 'events' | 'pastEvents'>,
): EventKind[] {
  return [...eventsEver(webhook).filter((kind) => maySeeEvent(scopes, kind)), 'ping'];
}
