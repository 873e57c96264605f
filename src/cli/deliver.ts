import { Command } from 'commander';

import type { Config } from '../config.ts';
import { createLogger, type Logger } from '../log.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import type { Engine } from '../store/engine.ts';
import { createBacklog } from '../webhooks/backlog.ts';
import { DeliveryLoop } from '../webhooks/delivery-loop.ts';
import { keepPurging } from '../webhooks/purge.ts';
import { openSecretBox } from '../webhooks/secret-key.ts';
import type { SecretBox } from '../webhooks/secrets.ts';
import { createSender } from '../webhooks/sender.ts';
import { withDatabase } from './database.ts';
import { listenForMetrics } from './metrics-page.ts';
import { listenAs } from './ports.ts';
import { listenForStop } from './stop.ts';
import type { Terminal } from './terminal.ts';

/** `fieldledger deliver`: delivers webhooks until it is told to stop, without serving the API. */
export function deliverCommand(terminal: Terminal): Command {
  return new Command('deliver')
    .description('deliver webhooks, beside servers that run with DELIVER_WEBHOOKS=off or beside others')
    .action(async () => {
      await withDatabase(terminal, async (engine, config) => {
        const secrets = await openSecretBox(engine, config);
        const log = createLogger(config.logLevel);
        using stop = listenForStop();
        const metrics = createMetrics();
        await using page = new AsyncDisposableStack();
        const address = await showMetrics(page, engine, config, metrics);
        const deliveries = startDeliveries({ engine, config, secrets, log, metrics });
        const greeting = ['Delivering webhooks.', ...(address ? [`  Metrics    ${address}`] : [])];
        terminal.show({ delivering: true, metrics: address }, greeting.join('\n'));
        log.info({ metrics: address }, 'deliveries.started');
        await stop.told;
        await deliveries[Symbol.asyncDispose]();
        log.info('deliveries.stopped');
      });
    });
}

/** @returns where the metrics are, if the operator has chosen a port for them. */
async function showMetrics(
  running: AsyncDisposableStack,
  engine: Engine,
  { metricsHost: host, metricsPort: port }: Config,
  metrics: Metrics,
): Promise<string | undefined> {
  if (port === undefined) return undefined;
  metrics.deliveries.watchBacklog(createBacklog(engine, () => new Date()));
  const place = { host, port };
  const settings = { host: 'METRICS_HOST', port: 'METRICS_PORT' } as const;
  return running.use(await listenAs(settings, place, () => listenForMetrics(metrics, place))).address;
}

/**
 * Starts to deliver the webhooks of a database, and to remove what is older than their history. Disposing of it begins
 * nothing more and waits for what is under way, some ten seconds at most.
 */
export function startDeliveries({
  engine,
  config,
  secrets,
  log,
  metrics,
}: {
  engine: Engine;
  config: Config;
  secrets: SecretBox;
  log: Logger;
  metrics: Metrics;
}): AsyncDisposable {
  const now = () => new Date();
  const running = new AsyncDisposableStack();
  const sender = running.use(createSender({ ownAddresses: config.ownAddresses }));
  running.use(
    new DeliveryLoop({
      engine,
      sender,
      secrets,
      serviceName: config.serviceName,
      log,
      metrics: metrics.deliveries,
      now,
      concurrencyMax: config.deliveriesMax,
    }),
  );
  // Last, because whatever fails above would leave it running.
  running.use(keepPurging(engine, { now, log }));
  return running;
}
