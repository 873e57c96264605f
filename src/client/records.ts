import type { components } from '../../generated/openapi.ts';

type Schemas = components['schemas'];

/**
 * An event as a webhook brings it, told apart by `event`. More kinds can come within version 1, so a `switch` over
 * `event` needs a `default` that lets them pass.
 */
export type Event = Schemas['Event'];
/** The kinds of events that this version of the client knows. */
export type EventKind = Event['event'];
/** The codes of the API's errors. */
export type ErrorCode = Schemas['ErrorCode'];
