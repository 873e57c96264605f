import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { Command } from 'commander';

import type { Config } from '../process/config.ts';
import { isReferenceBuilt } from '../../contract/document.ts';
import { openDocuments } from '../invoice-pdf/documents.ts';
import { httpAddress } from '../connections/networks.ts';
import { createLogger, type Logger } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import type { ProbeOptions } from '../operator-pages.ts';
import { createFeedServer } from '../feed/feed-server.ts';
import { createServer } from '../server.ts';
import type { Engine } from '../store/engines/engine.ts';
import { openKeyUsage } from '../features/usage/key-usage.ts';
import { keepServedClock } from '../store/records/served-clock.ts';
import { lockServing } from '../store/engines/serving-lock.ts';
import { openSecretBox } from '../features/webhooks/secret-key.ts';
import { version } from '../../contract/version.ts';
import type { SecretBox } from '../process/secret-box.ts';
import { createWatchedMetrics, impairmentOf, startDeliveries } from './deliver.ts';
import { compareClocks, serveManagement, withPatience } from './management.ts';
import { lookOf } from './look.ts';
import { listenAs } from './ports.ts';
import { listenForStopSignals } from '../../command-line/stop.ts';
import type { Terminal } from '../../command-line/terminal.ts';

export interface Demo {
  company: string;
  key: string;
  isNew: boolean;
}

/** The parts of the demo that `serve --demo` calls; they are passed in, because the server contains no demo. */
interface DemoLoader {
  prepareDemo: (engine: Engine, config: Config) => Promise<Demo>;
  /** Returns a link into the demo company's portal, if there is one. */
  demoPortal: (engine: Engine, address: string, demo: Demo | undefined) => Promise<string | undefined>;
}

/** Builds `fieldledger serve`, which serves the API until told to stop. */
export function serveCommand(terminal: Terminal, { prepareDemo, demoPortal }: DemoLoader): Command {
  return new Command('serve')
    .description('serve the API')
    .option('--demo', 'load the example company first, and print a key of it')
    .action(async (options: { demo?: boolean }) => {
      await withPatience(terminal, { isPublic: true }, async (engine, config) => {
        using serving = lockServing(config.databaseUrl);
        const secrets = await openSecretBox(engine, config);
        const demo = options.demo ? await prepareDemo(engine, config) : undefined;
        const log = createLogger(config.logLevel);
        using stop = listenForStopSignals();
        const metrics = createWatchedMetrics(engine, config);
        await using documents = openDocuments({ engine, ...config, log, metrics: metrics.documents });
        await documents.tryTemplate();
        await using usage = openKeyUsage(engine, {
          now: () => new Date(),
          onError: (error, lost) => log.warn({ err: error, lost }, 'usage.not-written'),
        });
        const [now, isReady] = [() => new Date(), () => !stop.signal.aborted];
        const pages = { engine, log, metrics, now, isReady, impairment: impairmentOf(secrets, log) };
        const server: Server = await createServer({
          ...config,
          ...pages,
          documents,
          usage,
          portal: portalOf(config, secrets),
          look: lookOf(config),
          baseUrl: () => config.baseUrl ?? addressOf(server, config),
        });
        using background = new DisposableStack();
        await using deliveries = new AsyncDisposableStack();
        const onError = (error: unknown) => log.warn({ err: error }, 'server.clock-not-kept');
        background.use(await keepServedClock(engine, () => new Date(), onError));
        await using management = await serveManagement(config, pages);
        await using feed = new AsyncDisposableStack();
        const feedAddress = await serveFeed(config, { ...pages, portal: server, stack: feed });
        const connections = await listenAs('', server, { ...config, metrics });
        if (config.deliverWebhooks)
          deliveries.use(startDeliveries({ engine, config, secrets, log, metrics }));
        const address = addressOf(server, config);
        const portal = config.portal ? await demoPortal(engine, config.baseUrl ?? address, demo) : undefined;
        const greeted = { address, management: management.address, feed: feedAddress, demo, portal };
        terminal.show(greeted, greeting(greeted));
        log.info({ version, address, management: management.address, feed: feedAddress }, 'server.started');
        await compareClocks(engine, log);
        await stop.told;
        // Gives load balancers time to notice /readyz, so that no client is refused.
        await pause(config.shutdownDelaySeconds * 1000);
        // From here on, the next server can start.
        serving[Symbol.dispose]();
        // The parts end in parallel, because each can take ten seconds.
        const stopped = Promise.all([deliveries.disposeAsync(), feed.disposeAsync()]);
        await drain(server, connections, config.shutdownSeconds, log);
        await stopped;
        log.info('server.stopped');
      });
    });
}

interface FeedSurroundings extends ProbeOptions {
  metrics: Metrics;
  /** The server of the portal, to which the feed's portal links lead. */
  portal: Server;
  stack: AsyncDisposableStack;
}

/** Serves the feed on FEED_PORT, if set, until the stack is disposed of. @returns the feed's address. */
async function serveFeed(
  config: Config,
  { stack, portal, ...pages }: FeedSurroundings,
): Promise<string | undefined> {
  const { feedHost: host, feedPort: port, feedRequestsPerMinute: requestsPerMinute, keyPrefix } = config;
  if (port === undefined) return undefined;
  const { metrics, log } = pages;
  const server = await createFeedServer({
    ...{ ...pages, metrics: metrics.feed, keyPrefix, requestsPerMinute, accent: config.portalAccent },
    baseUrl: () => config.baseUrl ?? addressOf(portal, config),
  });
  const connections = await listenAs('FEED_', server, { ...config, host, port, metrics });
  stack.defer(() => drain(server, connections, config.shutdownSeconds, log));
  return addressOf(server, { host });
}

function portalOf(config: Config, secrets: SecretBox) {
  if (!config.portal) return undefined;
  const { portalIdleMinutes: idleMinutes, portalSessionHours: hoursMax } = config;
  const passwordsOff = config.portalSignIn === 'links';
  const isMailing = config.smtpUrl !== undefined;
  return { sessionLengths: { idleMinutes, hoursMax }, secrets, passwordsOff, isMailing };
}

function addressOf(server: Server, { host }: Pick<Config, 'host'>): string {
  // A server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo;
  return httpAddress(host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host, port);
}

interface Greeted {
  address: string;
  management: string | undefined;
  feed: string | undefined;
  demo: Demo | undefined;
  portal: string | undefined;
}

function greeting({ address, management, feed, demo, portal }: Greeted): string {
  const reference = isReferenceBuilt() ? `${address}/reference` : 'not built; "make docs" builds it';
  const lines = [`Listening on ${address}`, `  Reference  ${reference}`];
  if (demo)
    lines.push(
      `  Try it     curl -H 'Authorization: Bearer ${demo.key}' '${address}/api/v1/invoices?limit=2'`,
    );
  if (portal !== undefined) lines.push(`  Portal     ${portal}`);
  if (management !== undefined) lines.push(`  Metrics    ${management}/metrics`);
  if (feed !== undefined) lines.push(`  Feed       ${feed}/feed/v1/changes`);
  return lines.join('\n');
}

const SWEEP_MS = 50;
/** Time that a new connection gets to send its request during a shutdown. */
const SILENT_MS_MAX = 500;

/** Stops a server: accepts no new connections, and cuts off current requests that take longer than `seconds`. */
async function drain(
  server: Server,
  connections: ReadonlySet<Socket>,
  seconds: number,
  log: Logger,
): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // Closing the server ends only connections that are idle at that moment: not those that become idle after their
  // answer, nor those on which nothing was ever sent.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const silence = setTimeout(() => {
    for (const connection of connections) if (connection.bytesRead === 0) connection.destroy();
  }, SILENT_MS_MAX);
  const timer = setTimeout(() => {
    log.warn({ seconds }, 'server.cut-off');
    server.closeAllConnections();
  }, seconds * 1000);
  await closed;
  clearInterval(sweep);
  clearTimeout(silence);
  clearTimeout(timer);
}
