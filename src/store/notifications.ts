import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

/** Where the database tells of new deliveries; see migrations/0004-deliveries.ts. */
const CHANNEL = 'fieldledger_deliveries';
const RECONNECT_MS = 1_000;
const CONNECT_MS_MAX = 5_000;

/**
 * Listens on a connection of its own, which is made anew whenever it breaks.
 * @param onNews is also called when it listens again, because what happened in between wasn't heard.
 */
export function listenOnPostgres(url: string, onNews: () => void): AsyncDisposable {
  const stop = new AbortController();
  let client: pg.Client | undefined;
  const listening = (async () => {
    while (!stop.signal.aborted) {
      client = new pg.Client({
        connectionString: url,
        connectionTimeoutMillis: CONNECT_MS_MAX,
        application_name: 'fieldledger-deliveries',
        keepAlive: true,
      });
      // A connection that can't be made is like one that broke: it is tried again.
      await listenWith(client, onNews).catch(() => undefined);
      await sleep(RECONNECT_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await client?.end().catch(() => undefined);
      await listening;
    },
  };
}

/** Resolves when the connection has ended, in whatever way. */
async function listenWith(client: pg.Client, onNews: () => void): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    client.on('error', () => resolve());
    client.on('end', () => resolve());
  });
  client.on('notification', onNews);
  await client.connect();
  await client.query(`LISTEN ${CHANNEL}`);
  onNews();
  await ended;
  await client.end();
}
