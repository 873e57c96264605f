import type { Test } from 'tap';

import { startEmptyServer, type TestServer } from '../../_server.ts';

export const ACME_URL = 'https://api.acme.test';

/** A server under another name than the project's, until the test ends. */
export const startAcme = async (t: Test): Promise<TestServer> =>
  (await startEmptyServer(t, 'sqlite', { baseUrl: ACME_URL, serviceName: 'Acme' })).server;

/**
 * Finds where a published text names the project in place of the configured service. The program and the package are
 * called `fieldledger` everywhere.
 */
export function otherNames(text: string): string[] {
  const other =
    /.{0,20}fieldledger(?!(?: webhook (?:sample|play)| (?:pull|export|mcp|feed-token) | apply(?:`|<)|-X|\/client|`|<\/code>)).{0,20}/gi;
  return text.match(other) ?? [];
}
