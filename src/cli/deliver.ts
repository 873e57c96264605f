import { Command } from 'commander';

import type { Config } from '../config.ts';
import { createLogger, type Logger } from '../log.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import type { Engine } from '../store/engine.ts';
import { DeliveryLoop } from '../webhooks/delivery-loop.ts';
import { keepPurging } from '../webhooks/purge.ts';
import { createSecretBox } from '../webhooks/secrets.ts';
import { createSender } from '../webhooks/sender.ts';
import { withDatabase } from './database.ts';
import { listenForStop } from './stop.ts';
import type { Terminal } from './terminal.ts';

/** `fieldledger deliver`: delivers webhooks until it is told to stop, without serving the API. */
export function deliverCommand(terminal: Terminal): Command {
  return new Command('deliver')
    .description('deliver webhooks, beside servers that run with DELIVER_WEBHOOKS=off or beside others')
    .action(async () => {
      await withDatabase(terminal, async (engine, config) => {
        const log = createLogger(config.logLevel);
        using stop = listenForStop();
        const deliveries = startDeliveries(engine, config, log, createMetrics());
        terminal.show({ delivering: true }, 'Delivering webhooks.');
        log.info('deliveries.started');
        await stop.told;
        await deliveries[Symbol.asyncDispose]();
        log.info('deliveries.stopped');
      });
    });
}

/**
 * Starts to deliver the webhooks of a database, and to remove what is older than their history. Disposing of it begins
 * nothing more and waits for what is under way, some ten seconds at most.
 */
export function startDeliveries(
  engine: Engine,
  config: Config,
  log: Logger,
  metrics: Metrics,
): AsyncDisposable {
  const now = () => new Date();
  const running = new AsyncDisposableStack();
  const sender = running.use(createSender({ ownAddresses: config.ownAddresses }));
  running.use(keepPurging(engine, { now, log }));
  running.use(
    new DeliveryLoop({
      engine,
      sender,
      secrets: createSecretBox(config.webhookSecretKey, config.webhookSecretKeyPrevious),
      serviceName: config.serviceName,
      log,
      metrics: metrics.deliveries,
      now,
      concurrencyMax: config.deliveriesMax,
    }),
  );
  return running;
}
