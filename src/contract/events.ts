import type { components, webhooks } from '../../generated/webhooks.ts';
import { contractDocument } from './document.ts';
import { type Module, moduleOf, type Scope } from './scopes.ts';

type Schemas = components['schemas'];

/** Data of the two payment events; all other events carry records of the API. */
export type PaymentRecorded = Schemas['PaymentRecorded'];
export type InvoicePaid = Schemas['InvoicePaid'];

/** Names of the events in this version of the contract. */
export type EventKind = keyof webhooks;

/** Maximum size of a delivery in bytes, as in webhooks.yaml under `Content-Length`. A line of the feed is shorter. */
export const deliveryBytesMax = 10_000_000;

/** Names of the events that a webhook can subscribe to. A ping is sent by a button in the portal instead. */
export type SubscribableKind = Exclude<EventKind, 'ping'>;

/** Scopes needed to read the events' data, by event name (webhooks.yaml, `x-scope`); a ping has none. */
const eventScopes = Object.fromEntries(
  Object.entries(contractDocument().webhooks).flatMap(([kind, { post }]) => {
    const scope = post['x-scope'];
    return scope ? [[kind, scope]] : [];
  }),
) as Readonly<Record<SubscribableKind, Scope>>;

/** Names of the events that a webhook can subscribe to, in the contract's order. */
export const subscribableKinds = Object.keys(eventScopes) as readonly SubscribableKind[];

export function isSubscribableKind(value: string): value is SubscribableKind {
  return Object.hasOwn(eventScopes, value);
}

export function scopeOfEvent(kind: SubscribableKind): Scope {
  return eventScopes[kind];
}

/**
 * Returns the module that a company's plan must include for it to receive an event; undefined for a ping.
 * @throws TypeError for an event stored by a later version of the program, because its data must not be disclosed.
 */
export function moduleOfEvent(kind: EventKind): Module | undefined {
  return kind === 'ping' ? undefined : moduleOf(eventScopes[kind]);
}
