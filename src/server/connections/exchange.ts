import type { ContractOperation } from '../../contract/document.ts';
import type { Scope } from '../../contract/scopes.ts';
import type { Switches } from '../../contract/withholding.ts';

/** A request's API key, and its company's switches as they were when the request arrived. */
export interface Caller extends Switches {
  readonly company: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly timeZone: string;
}

/** A request and its response, as far as they are known: the data for the log line. */
export interface Exchange {
  readonly requestId: string;
  readonly authorization: string | undefined;
  /** The trace id that the client sent; undefined if it sent none. */
  readonly traceId: string | undefined;
  /** IP address of the client, as given by trusted proxies if there are any. */
  readonly address: string;
  operation?: ContractOperation;
  /** Bytes of the response body as sent; undefined until it has been sent. */
  bodyBytes?: number;
  errorCode?: string;
  /** The caller; undefined until its key has been found valid. */
  caller?: Caller;
  /** The key, where it was right but has ended. */
  endedKey?: { company: string; keyId: string };
  /** The requested portal page's route with its `:name` placeholders, because values in an address are never logged. */
  page?: string;
  /** The administrator who is signed in to the portal; undefined for any other request. */
  visitor?: { company: string; administrator: string };
}

/** Returns the exchange that belongs to a response; the server creates it before anything else. */
export function exchangeOf({ locals }: { locals: Record<string, unknown> }): Exchange {
  return locals.exchange as Exchange;
}
