import { Command } from 'commander';

import type { Config } from '../process/config.ts';
import { createLogger, type Logger } from '../process/log.ts';
import { createAccessPoint } from '../features/hand-over/access-point.ts';
import { handOverDocuments } from '../features/hand-over/handing-over.ts';
import { createMetrics, type Metrics } from '../process/metrics.ts';
import { mailNotices } from '../features/notices/mailing.ts';
import { tellLosses, tellOutages } from '../features/webhooks/webhook-outages.ts';
import { secondsOfOldest } from '../store/outbox.ts';
import type { Engine } from '../store/engines/engine.ts';
import { listLastChanges, listLastOfSources } from '../features/companies/company-status.ts';
import { createBacklog } from '../features/webhooks/deliveries/backlog.ts';
import { DeliveryLoop } from '../features/webhooks/deliveries/delivery-loop.ts';
import { keepPurging } from './purge.ts';
import { keepDoing } from '../process/repeating.ts';
import { type OpenedBox, openSecretBox } from '../features/webhooks/secret-key.ts';
import { createSender } from '../sending/sender.ts';
import { MINUTE_MS } from '../../contract/durations.ts';
import { version } from '../../contract/version.ts';
import { lookOf } from './look.ts';
import { compareClocks, serveManagement, withPatience } from './management.ts';
import { listenForStopSignals } from '../../command-line/stop.ts';
import type { Terminal } from '../../command-line/terminal.ts';

/** `fieldledger deliver`: delivers webhooks until it is told to stop, without serving the API. */
export function deliverCommand(terminal: Terminal): Command {
  return new Command('deliver')
    .description('deliver webhooks, beside servers that run with DELIVER_WEBHOOKS=off or beside others')
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

/** The metrics of a process, with the figures of the database, whoever delivers. */
export function createWatchedMetrics(
  engine: Engine,
  { smtpUrl, accessPointFolder, accessPointUrl }: Config,
): Metrics {
  const metrics = createMetrics();
  metrics.deliveries.watchBacklog(createBacklog(engine, () => new Date()));
  // The queue is watched also where another process mails, or should.
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

/** The sentence of `/readyz` about webhooks whose key is lost. */
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

/** A pass mails 20 at most, so a process mails ten in a second, and as many documents are handed over. */
const QUEUES_EVERY_MS = 2_000;

/**
 * Starts to deliver the webhooks of a database, to tell of those that fail, to mail notices, to hand documents over, and to
 * remove deliveries that are older than their history. Disposing of it begins nothing more and waits for what is under way,
 * some twenty seconds at most.
 */
export function startDeliveries(surroundings: Surroundings): AsyncDisposable {
  const { engine, config, secrets, log, metrics } = surroundings;
  const now = () => new Date();
  const { logo } = lookOf(config);
  const sender = createSender({ ownAddresses: config.ownAddresses });
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
  const { smtpUrl, mailFrom: from, baseUrl, serviceName } = config;
  // The settings are given together.
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
      // Side by side, so that none begins anything while another is waited for.
      await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()));
      await accessPoint?.[Symbol.asyncDispose]();
      await sender[Symbol.asyncDispose]();
    },
  };
}
