import { setTimeout as sleep } from 'node:timers/promises';

import type pg from 'pg';

import { DELIVERY_CHANNEL } from '../dialects/dialect.ts';
import { onOwnConnection, openHosts, type PostgresHosts } from './postgres-hosts.ts';

const RECONNECT_MS = 1_000;
const CONNECT_MS_MAX = 5_000;

/**
 * Listens for PostgreSQL's notifications on a separate connection, which is reopened whenever it breaks.
 * @param onNews is also called after a reconnection, because notifications may have been missed.
 */
export function listenOnPostgres(url: string, onNews: () => void): AsyncDisposable {
  const stop = new AbortController();
  const hosts = openHosts(url);
  const listening = (async () => {
    while (!stop.signal.aborted) {
      // Retried, like a broken connection.
      await listenOnce(hosts, onNews, stop.signal).catch(() => undefined);
      await sleep(RECONNECT_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await listening;
    },
  };
}

/** Listens on one connection until it ends or `signal` aborts. */
async function listenOnce(hosts: PostgresHosts, onNews: () => void, signal: AbortSignal): Promise<void> {
  const listen = async (client: pg.Client) => {
    const over = new Promise<void>((resolve) => {
      client.on('error', () => resolve());
      client.on('end', () => resolve());
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    client.on('notification', onNews);
    await client.query(`LISTEN ${DELIVERY_CHANNEL}`);
    onNews();
    if (!signal.aborted) await over;
  };
  await onOwnConnection(hosts, CONNECT_MS_MAX, { name: 'fieldledger-deliveries', work: listen });
}
