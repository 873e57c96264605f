import type { Response } from 'express';

import type { Caller } from '../access/keys.ts';
import type { ContractOperation } from '../contract/document.ts';

/** What is known of one request and its answer so far; the log line is made of it. */
export interface Exchange {
  readonly requestId: string;
  readonly authorization: string | undefined;
  /** Address of the client, as far as proxies are trusted. */
  readonly address: string;
  /** Known once the path has matched. */
  operation?: ContractOperation;
  /** Length of the body as it was sent; known once it was. */
  bodyBytes?: number;
  /** The code of the error that was answered. */
  errorCode?: string;
  /** Known once the key was found to be right. */
  caller?: Caller;
  /** The portal's page that was asked for, as it is written there; never what stands in the address. */
  page?: string;
  /** Who is signed in to the portal. */
  visitor?: { company: string; administrator: string };
}

/** The exchange of an answer; the server begins it before anything else. */
export function exchangeOf(res: Response): Exchange {
  return res.locals.exchange as Exchange;
}
