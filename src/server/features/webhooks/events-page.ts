import {
  moduleOfEvent,
  type SubscribableKind,
  subscribableKinds,
  scopeOfEvent,
} from '../../../contract/events.ts';
import { eventWords, exampleEvents } from '../../../contract/examples.ts';
import { maySeeEvent } from '../../../contract/withholding.ts';
import { whyNot } from '../../views/availability.ts';
import { type Html, html } from '../../views/html.ts';
import { page, type PortalPage, type Visit } from '../../views/visit.ts';

/** Shows every event that a webhook can have: when it is sent, what it carries, and an example. */
export const showEvents: PortalPage = (visit) =>
  page(
    'Events',
    html`<p><a href="/portal/webhooks">All webhooks</a></p>
      <p>A webhook gets the events chosen for it, each as a delivery like its example.</p>
      ${subscribableKinds.map((kind) => {
        const { unavailable, hint } = eventChoice(kind, visit);
        return html`<h2><code>${kind}</code></h2>
          <p>${unavailable ?? hint}</p>
          ${eventDetails(kind, { isOpen: true })}`;
      })}`,
    { section: 'webhooks' },
  );

/** Describes when an event is sent, or why an administrator can't choose it. */
export function eventChoice(
  kind: SubscribableKind,
  { company, administrator }: Pick<Visit, 'company' | 'administrator'>,
): { unavailable?: string; hint: string } {
  const hint = `${eventWords(kind).summary}.`;
  if (!maySeeEvent(administrator.scopes, kind))
    return { hint, unavailable: `You need ${scopeOfEvent(kind)} to choose this.` };
  const reason = whyNot(company, moduleOfEvent(kind));
  return { hint: reason === undefined ? hint : `${hint} Not sent at the moment: ${reason}` };
}

/** Renders an event's description, the scope that may read it, and the contract's first example of it. */
export function eventDetails(kind: SubscribableKind, { isOpen = false } = {}): Html {
  const example = exampleEvents().find(({ event }) => event === kind)?.body ?? '{}';
  // Code is the only Markdown in the descriptions.
  const parts = eventWords(kind).description.split('`');
  return html`<details class="hint" ${isOpen && html`open`}>
    <summary>Details and an example<span class="hidden"> of ${kind}</span></summary>
    <p>${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}</p>
    <p>Its data needs the scope <code>${scopeOfEvent(kind)}</code>.</p>
    <pre>${JSON.stringify(JSON.parse(example), null, 2)}</pre>
  </details>`;
}
