import type { ContractOperation } from '../../contract/document.ts';
import type { Scope } from '../../contract/scopes.ts';
import type { Switches } from '../../contract/withholding.ts';

/** A request's API key and its company's switches, as they were when it arrived. */
export interface Caller extends Switches {
  readonly company: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly timeZone: string;
}

/** A request and its response, as far as known: the data for the log line. */
export interface Exchange {
  readonly requestId: string;
  readonly authorization: string | undefined;
  /** The trace id that the client sent. */
  readonly traceId: string | undefined;
  /** Address of the client, taking trusted proxies into account. */
  readonly address: string;
  operation?: ContractOperation;
  /** Length of the response body as sent; set when it has been sent. */
  bodyBytes?: number;
  errorCode?: string;
  /** The caller; set when the key has been found valid. */
  caller?: Caller;
  /** The requested portal page's route with its `:name` placeholders, because values in an address are never logged. */
  page?: string;
  /** The administrator signed in to the portal. */
  visitor?: { company: string; administrator: string };
}

/** Returns a response's exchange, which the server creates before anything else. */
export function exchangeOf({ locals }: { locals: Record<string, unknown> }): Exchange {
  return locals.exchange as Exchange;
}
