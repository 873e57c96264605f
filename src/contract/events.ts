import type { components, webhooks } from '../../generated/webhooks.ts';
import { contractDocument } from './document.ts';
import { type Module, moduleOf, type Scope } from './scopes.ts';

type Schemas = components['schemas'];

/** The data of the two events about money; the others carry records of the API. */
export type PaymentRecorded = Schemas['PaymentRecorded'];
export type InvoicePaid = Schemas['InvoicePaid'];

/** The kinds of events that this version of the contract has. */
export type EventKind = keyof webhooks;

/** No delivery has more bytes, as webhooks.yaml says of `Content-Length`. A line of the feed is shorter. */
export const deliveryBytesMax = 10_000_000;

/** The kinds that moves send; a ping comes from the portal's button. */
export type MoveEventKind = Exclude<EventKind, 'ping'>;

/** The scope under which each event's data is read (webhooks.yaml, `x-scope`): a ping has none. */
const eventScopes = Object.fromEntries(
  Object.entries(contractDocument().webhooks).flatMap(([kind, { post }]) => {
    const scope = post['x-scope'];
    return scope ? [[kind, scope]] : [];
  }),
) as Readonly<Record<MoveEventKind, Scope>>;

/** The events that can be chosen for a webhook, in the contract's order. */
export const moveEventKinds = Object.keys(eventScopes) as readonly MoveEventKind[];

export function isMoveEventKind(value: string): value is MoveEventKind {
  return Object.hasOwn(eventScopes, value);
}

export function scopeOfEvent(kind: MoveEventKind): Scope {
  return eventScopes[kind];
}

/**
 * The module that a plan has to include for an event to be sent; undefined for a ping.
 * @throws TypeError for a kind that a later version of the program has stored: its data may not be given out.
 */
export function moduleOfEvent(kind: EventKind): Module | undefined {
  return kind === 'ping' ? undefined : moduleOf(eventScopes[kind]);
}
