import { setTimeout as pause } from 'node:timers/promises';
import { callbackify } from 'node:util';

import pg from 'pg';

import { hostListOf, withHostList } from '../../process/setting-values.ts';

/** Connections to whichever of an address's hosts can be used. */
export interface PostgresHosts {
  /** Client class that connects to the current host. If it can't connect, the next host becomes the current one. */
  Client: new (options?: pg.ClientConfig) => pg.Client;
  /** Returns a connection to the first host that accepts one, starting with the current host. */
  connect: <Opened>(open: () => Promise<Opened>) => Promise<Opened>;
}

/** Maximum milliseconds to wait for a connection to close; one that broke silently never does. */
const END_MS_MAX = 500;

/** Runs work on a connection of its own and returns the result. @param msMax the limit for connecting and for each query. */
export async function onOwnConnection<T>(
  { Client }: PostgresHosts,
  msMax: number,
  { name, work }: { name: string; work: (client: pg.Client) => Promise<T> },
): Promise<T> {
  const limits = { connectionTimeoutMillis: msMax, query_timeout: msMax };
  const client = new Client({ ...limits, application_name: name, keepAlive: true });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await Promise.race([client.end(), pause(END_MS_MAX, undefined, { ref: false })]);
    client.connection.stream.destroy();
  }
}

/**
 * Returns connections to an address's first host that accepts them, and writes if `target_session_attrs` demands it
 * (PostgreSQL's documentation, section "Specifying Multiple Hosts"). After a promotion the next one goes to the new primary.
 * @param url an address with one or several hosts.
 */
export function openHosts(url: string): PostgresHosts {
  const urls = hostListOf(url)
    .split(',')
    .map((host) => withHostList(url, host));
  const mustWrite = /[?&]target_session_attrs=(?:read-write|primary)(?:&|$)/.test(url);
  let current = 0;
  class HostClient extends pg.Client {
    readonly #place = current;

    constructor(options: pg.ClientConfig = {}) {
      super({ ...options, connectionString: urls[current] });
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | void {
      const connected = this.#connect();
      if (!callback) return connected;
      callbackify(() => connected)(callback);
    }

    async #connect(): Promise<pg.Client> {
      try {
        await super.connect();
        if (mustWrite) await refuseReadOnly(this);
        return this;
      } catch (error) {
        // Another client may have moved on to the next host at the same moment.
        if (current === this.#place) current = (current + 1) % urls.length;
        throw error;
      }
    }
  }
  return {
    Client: HostClient,
    async connect(open) {
      for (let tries = 1; ; tries += 1) {
        const place = current;
        try {
          return await open();
        } catch (error) {
          if (tries >= urls.length || current === place) throw error;
        }
      }
    },
  };
}

/** Closes a connection if it is read-only. @throws Error with PostgreSQL's SQLSTATE for a read-only transaction. */
async function refuseReadOnly(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
  if (rows[0]?.transaction_read_only === 'off') return;
  await client.end();
  throw Object.assign(new Error(`${client.host}:${client.port} takes no writes; it may be a standby.`), {
    code: '25006',
  });
}
