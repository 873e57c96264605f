import { Command } from 'commander';

import type { Config } from '../process/config.ts';
import { createLogger, type Logger } from '../process/log.ts';
import { createAccessPoint } from '../features/hand-over/access-point.ts';
import { handOverDocuments } from '../features/hand-over/handing-over.ts';
import { createMetrics, type Metrics } from '../process/metrics.ts';
import { mailNotices } from '../features/notices/mailing.ts';
import { tellKeyEnds } from '../features/keys/key-ends.ts';
import { tellLosses, tellOutages } from '../features/webhooks/webhook-outages.ts';
import { secondsOfOldest } from '../store/outbox.ts';
import type { Engine } from '../store/engines/engine.ts';
import { listLastChanges, listLastOfSources } from '../features/companies/company-status.ts';
import { createBacklog } from '../features/webhooks/deliveries/backlog.ts';
import { DeliveryLoop } from '../features/webhooks/deliveries/delivery-loop.ts';
import { keepPurging } from './purge.ts';
import { keepDoing } from '../process/repeating.ts';
import { type OpenedBox, openSecretBox } from '../features/webhooks/secret-key.ts';
import { createWebhookSender } from '../sending/sender.ts';
import { HOUR_MS, MINUTE_MS } from '../../contract/durations.ts';
import { version } from '../../contract/version.ts';
import { lookOf } from './look.ts';
import { compareClocks, serveManagement, withPatience } from './management.ts';
import { listenForStopSignals } from '../../command-line/stop.ts';
import type { Terminal } from '../../command-line/terminal.ts';

/** Builds `fieldledger deliver`, which delivers webhooks until told to stop, without serving the API. */
export function deliverCommand(terminal: Terminal): Command {
  return new Command('deliver')
    .description('deliver webhooks, alongside servers with DELIVER_WEBHOOKS=off or other workers')
    .action(async () => {
      await withPatience(terminal, { isPublic: false }, async (engine, config) => {
        const secrets = await openSecretBox(engine, config);
        const log = createLogger(config.logLevel);
        using stop = listenForStopSignals();
        const metrics = createWatchedMetrics(engine, config);
        const isReady = () => !stop.signal.aborted;
        const impairment = impairmentOf(secrets, log);
        const pages = { engine, log, metrics, now: () => new Date(), isReady, impairment };
        await using management = await serveManagement(config, pages);
        const { address } = management;
        const deliveries = startDeliveries({ engine, config, secrets, log, metrics });
        const greeting = ['Delivering webhooks.', ...(address ? [`  Metrics    ${address}/metrics`] : [])];
        terminal.show({ delivering: true, management: address }, greeting.join('\n'));
        log.info({ version, management: address }, 'deliveries.started');
        await compareClocks(engine, log);
        await stop.told;
        await deliveries[Symbol.asyncDispose]();
        log.info('deliveries.stopped');
      });
    });
}

/** Creates a process's metrics, including those read from the database, such as the length of queues. */
export function createWatchedMetrics(
  engine: Engine,
  { smtpUrl, accessPointFolder, accessPointUrl }: Config,
): Metrics {
  const metrics = createMetrics();
  metrics.deliveries.watchBacklog(createBacklog(engine, () => new Date()));
  // The queue is watched even if another process sends the mail, or should.
  if (smtpUrl !== undefined) metrics.watchMails(() => secondsOfOldest(engine, 'notices', new Date()));
  if (accessPointFolder !== undefined || accessPointUrl !== undefined)
    metrics.watchHandOvers(() => secondsOfOldest(engine, 'hand_overs', new Date()));
  metrics.watchMachines(async () => engine.machines?.away.length ?? 0);
  metrics.watchFeeds({
    company: () => listLastChanges(engine),
    source: () => listLastOfSources(engine),
  });
  return metrics;
}

/** Returns the `/readyz` message, and logs an error, when a key of signing secrets is missing; otherwise undefined. */
export function impairmentOf({ problem }: OpenedBox, log: Logger): string | undefined {
  if (problem === undefined) return undefined;
  log.error({ problem }, 'deliveries.held');
  return 'Deliveries of webhooks are held: a key of signing secrets is missing.';
}

interface Surroundings {
  engine: Engine;
  config: Config;
  secrets: OpenedBox;
  log: Logger;
  metrics: Metrics;
}

/** Pause between passes of the mail and hand-over queues. A pass takes at most 20, so a process sends ten a second. */
const QUEUES_EVERY_MS = 2_000;

/**
 * Starts the background work: delivering webhooks, reporting failing ones and keys that end, mailing notices, handing
 * documents over and removing old deliveries. Disposing of it starts nothing new, and waits for work in progress for about twenty seconds at
 * most.
 */
export function startDeliveries(surroundings: Surroundings): AsyncDisposable {
  const { engine, config, secrets, log, metrics } = surroundings;
  const now = () => new Date();
  const { logo } = lookOf(config);
  const sender = createWebhookSender({ ownAddresses: config.ownAddresses });
  const parts: AsyncDisposable[] = [
    new DeliveryLoop({
      ...{ engine, sender, secrets, serviceName: config.serviceName, log, now },
      ...{ metrics: metrics.deliveries, concurrencyMax: config.deliveriesMax },
    }),
    keepPurging(engine, { now, log, changeIdDays: config.changeIdDays }),
  ];
  const keep = (everyMs: number, failure: string, work: (signal: AbortSignal) => Promise<unknown>) =>
    parts.push(keepDoing(work, { everyMs, onError: (err) => log.warn({ err }, failure) }));
  for (const tell of [tellOutages, tellLosses])
    keep(MINUTE_MS, 'outages.not-told', () => tell(engine, now()));
  keep(HOUR_MS, 'key-ends.not-told', () => tellKeyEnds(engine, now()));
  const { smtpUrl, mailFrom: from, baseUrl, serviceName } = config;
  // These settings are either all given or all absent.
  if (smtpUrl !== undefined && from !== undefined && baseUrl !== undefined) {
    const means = { engine, smtpUrl, from, baseUrl, serviceName, logo, log, now };
    keep(QUEUES_EVERY_MS, 'mails.not-sent', (signal) => mailNotices(means, signal));
  }
  const { accessPointFolder: folder, accessPointUrl: url, accessPointToken: token } = config;
  const accessPoint = createAccessPoint({ folder, url, token, serviceName }, sender);
  if (accessPoint) {
    const means = { engine, accessPoint, log, now };
    keep(QUEUES_EVERY_MS, 'documents.not-handed-over', (signal) => handOverDocuments(means, signal));
  }
  return {
    async [Symbol.asyncDispose]() {
      // In parallel, so that no part starts new work while another is finishing.
      await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()));
      await accessPoint?.[Symbol.asyncDispose]();
      await sender[Symbol.asyncDispose]();
    },
  };
}
