import type { components } from '../../generated/openapi.ts';

type Schemas = components['schemas'];

/** Work that the company does for a customer. */
export type Job = Schemas['Job'];
/** An active member of the company. */
export type Person = Schemas['Person'];
/** A form with its fields. */
export type Form = Schemas['Form'];
/** A form as somebody has filled it in once. */
export type Submission = Schemas['Submission'];
/** A person or a business that the company works for. */
export type Customer = Schemas['Customer'];
/** An invoice, a credit note or a pro forma, without its lines. */
export type InvoiceSummary = Schemas['InvoiceSummary'];
/** An invoice, a credit note or a pro forma, with its lines and, once it is issued, its payments. */
export type Invoice = Schemas['Invoice'];
/** One version of a quote, without its lines. */
export type QuoteSummary = Schemas['QuoteSummary'];
/** One version of a quote, with its lines. */
export type Quote = Schemas['Quote'];

/**
 * An event as a webhook brings it, told apart by `event`. More kinds can come within version 1, so a `switch` over
 * `event` needs a `default` that lets them pass.
 */
export type Event = Schemas['Event'];
/** The kinds of events that this version of the client knows. */
export type EventKind = Event['event'];
/** The codes of the API's errors. */
export type ErrorCode = Schemas['ErrorCode'];
