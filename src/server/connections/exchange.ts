import type { ContractOperation } from '../../contract/document.ts';
import type { Scope } from '../../contract/scopes.ts';
import type { Switches } from '../../contract/withholding.ts';

/** The holder of a key and the switches of their company, at the time of the request. */
export interface Caller extends Switches {
  readonly company: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly timeZone: string;
}

/** One request and its answer, as far as they are known; the log line is made of it. */
export interface Exchange {
  readonly requestId: string;
  readonly authorization: string | undefined;
  /** The trace that the client says the request belongs to. */
  readonly traceId: string | undefined;
  /** Address of the client, as far as proxies are trusted. */
  readonly address: string;
  operation?: ContractOperation;
  /** Length of the body as it was sent; known once it was. */
  bodyBytes?: number;
  errorCode?: string;
  /** The holder of the key, once it was found to be right. */
  caller?: Caller;
  /** The portal's page that was asked for, with its `:name` parts: the values in an address are never logged. */
  page?: string;
  /** The administrator who is signed in to the portal. */
  visitor?: { company: string; administrator: string };
}

/** The exchange of an answer; the server begins it before anything else. */
export function exchangeOf({ locals }: { locals: Record<string, unknown> }): Exchange {
  return locals.exchange as Exchange;
}
