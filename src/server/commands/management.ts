import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { type Config, readConfig } from '../process/config.ts';
import { DatabaseAwayError } from '../../errors.ts';
import { httpAddress } from '../connections/networks.ts';
import { createLogger, type Logger } from '../process/log.ts';
import { createManagement, createUnready, type ManagementOptions } from '../operator-pages.ts';
import type { Engine } from '../store/engines/engine.ts';
import { isAway, openEngine } from '../store/engines/open-engine.ts';
import { withDatabase } from '../cli/database.ts';
import { listenAs } from './ports.ts';
import { listenForStopSignals } from '../../command-line/stop.ts';
import type { Terminal } from '../../command-line/terminal.ts';

/**
 * Serves probes and metrics on MANAGEMENT_PORT, if set, where heavy client traffic can't delay them.
 * @returns the server's address; disposing of it stops the server and closes every connection.
 * @throws UsageError when the port is taken or the address isn't this machine's.
 */
export async function serveManagement(
  config: Pick<Config, 'managementHost' | 'managementPort' | 'managementNames'>,
  options: Omit<ManagementOptions, 'managementNames'>,
): Promise<AsyncDisposable & { address: string | undefined }> {
  const { managementHost: host, managementPort: port, managementNames } = config;
  if (port === undefined) return { address: undefined, [Symbol.asyncDispose]: async () => undefined };
  return serveOn('MANAGEMENT_', { host, port }, createManagement({ ...options, managementNames }));
}

async function serveOn(
  prefix: Parameters<typeof listenAs>[0],
  place: { host: string; port: number },
  server: Server,
): Promise<AsyncDisposable & { address: string }> {
  const connections = await listenAs(prefix, server, place);
  // A server that listens on a port has an address of this shape.
  const { address, port } = server.address() as AddressInfo;
  return {
    address: httpAddress(address, port),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      // The server no longer tracks a connection that sent a CONNECT request, so wouldn't close it.
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}

const RETRY_MS = 1_000;

/**
 * Runs a serving command, and restarts it after each database outage. During an outage, its ports answer probes as alive but
 * not ready. A stop signal ends the wait.
 * @param options.isPublic whether the command serves the public port; if so, it also creates a missing SQLite file.
 * @throws any error of the command other than a database outage.
 */
export async function withPatience(
  terminal: Terminal,
  { isPublic }: { isPublic: boolean },
  work: (engine: Engine, config: Config) => Promise<void>,
): Promise<void> {
  const config = readConfig(terminal.environment);
  for (;;) {
    try {
      await withDatabase(terminal, work, { mayCreate: isPublic });
      return;
    } catch (error) {
      if (!(error instanceof DatabaseAwayError)) throw error;
      createLogger(config.logLevel).warn({ reason: error.message }, 'database.away');
    }
    using stop = listenForStopSignals();
    await using ports = new AsyncDisposableStack();
    if (isPublic) ports.use(await serveOn('', config, createUnready()));
    const { feedHost, feedPort, managementHost: host, managementPort: port } = config;
    if (isPublic && feedPort !== undefined)
      ports.use(await serveOn('FEED_', { host: feedHost, port: feedPort }, createUnready()));
    if (port !== undefined) ports.use(await serveOn('MANAGEMENT_', { host, port }, createUnready()));
    do await pause(RETRY_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    while (!stop.signal.aborted && !(await answers(config.databaseUrl)));
    if (stop.signal.aborted) return;
  }
}

async function answers(databaseUrl: string): Promise<boolean> {
  try {
    await using engine = await openEngine(databaseUrl, { poolMax: 1 });
    await engine.run('SELECT 1');
    return true;
  } catch (error) {
    // The command itself reports other errors.
    return !isAway(error);
  }
}

/** Maximum tolerated clock difference. Beyond it, readers on other machines would mistake new changes for old ones. */
const CLOCK_MS_MAX = 3_000;

/** Logs a warning when this machine's clock differs from that of PostgreSQL's machine. */
export async function compareClocks(engine: Engine, log: Logger): Promise<void> {
  if (!engine.dialect.isShared) return;
  const askedMs = Date.now();
  const [row] = await engine.run('SELECT EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS ms');
  const aheadMs = (askedMs + Date.now()) / 2 - Number(row?.ms);
  if (Math.abs(aheadMs) > CLOCK_MS_MAX)
    log.warn({ secondsAheadOfDatabase: Math.round(aheadMs / 1000) }, 'clock.differs');
}
