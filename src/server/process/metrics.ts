import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import { version } from '../../contract/version.ts';

/** The server's metrics, in Prometheus' text format. Labels have few values: no addresses, and at most 1,000 ids. */
export interface Metrics {
  requestAnswered: (operation: string, status: number, seconds: number) => void;
  /** Counts a connection that was refused because too many were open, in total or from its network. */
  connectionRefused: () => void;
  /** Sets the callback that returns, at each scrape, the times of the last feed changes by company and by source. */
  watchFeeds: (read: Record<'company' | 'source', () => Promise<[label: string, atMs: number][]>>) => void;
  feed: FeedMetrics;
  deliveries: DeliveryMetrics;
  documents: DocumentMetrics;
  /** Sets the callback that returns, at each scrape, the age in seconds of the oldest waiting mail. */
  watchMails: (read: () => Promise<number>) => void;
  /** Sets the callback that returns the age in seconds of the oldest document waiting for the access point. */
  watchHandOvers: (read: () => Promise<number>) => void;
  /** Sets the callback that returns the number of database machines that don't answer. */
  watchMachines: (read: () => Promise<number>) => void;
  contentType: string;
  text: () => Promise<string>;
}

/** Metrics of the feed over HTTP. */
export interface FeedMetrics {
  requestAnswered: Metrics['requestAnswered'];
  /** Counts the changes sent with a feed token, by the status of their answers. */
  changesAnswered: (token: string, status: string, count: number) => void;
}

export interface DeliveryMetrics {
  /** Counts a finished attempt and its duration; `outcome` is the new state of its delivery. */
  attempted: (outcome: string, seconds: number) => void;
  /** Records the seconds between an event's commit and the first attempt to deliver it. */
  firstAttempted: (seconds: number) => void;
  /** Counts outcomes of attempts that were dropped because another worker had taken over the deliveries. */
  completionsStale: (count: number) => void;
  watchBacklog: (read: () => Promise<Backlog>) => void;
}

export interface DocumentMetrics {
  /** Records the seconds taken to answer a request for a document, by outcome. */
  printed: (outcome: (typeof PRINTED)[number], seconds: number) => void;
  /** Counts a request for a document that was refused because too many were waiting. */
  refused: () => void;
  watchWaiting: (read: () => number) => void;
}

const PRINTED = ['stored', 'draft', 'statement', 'absent', 'failed'] as const;

/** The backlog of deliveries to webhooks. */
export interface Backlog {
  /** Number of deliveries waiting to be sent, counted only up to a maximum. */
  waitingCount: number;
  /** Seconds for which the oldest delivery that can be sent has been due; 0 when there is none. */
  oldestSeconds: number;
  /** Number of webhooks whose latest attempts failed, with no successful delivery since. */
  failingCount: number;
}

/** The metrics about the process itself, shared by all servers in it and collected for as long as it lives. */
let ofProcess: Registry | undefined;

function watchProcess(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Returns metrics in a registry of their own, so that one process can run several servers. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const whole = [(ofProcess ??= watchProcess()), registry];
  new Gauge({
    name: 'fieldledger_build_info',
    help: 'Always 1; the label says which version runs.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1);
  const requests = new Counter({
    name: 'fieldledger_requests_total',
    help: 'Requests answered, by operation and status.',
    labelNames: ['operation', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'fieldledger_request_seconds',
    help: 'Time from the request to the last byte of its answer, by operation.',
    labelNames: ['operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  });
  const refused = new Counter({
    name: 'fieldledger_connections_refused_total',
    help: 'Connections refused because there were too many, in all or of one network.',
    registers: [registry],
  });
  const requestAnswered: Metrics['requestAnswered'] = (operation, status, elapsed) => {
    requests.inc({ operation, status });
    seconds.observe({ operation }, elapsed);
  };
  return {
    connectionRefused: () => refused.inc(),
    requestAnswered,
    watchFeeds: (read) => watchFeeds([registry], read),
    feed: { requestAnswered, changesAnswered: createChangeCounter(registry) },
    deliveries: createDeliveryMetrics(registry),
    documents: createDocumentMetrics(registry),
    watchMails: createReadGauge(registry, {
      name: 'fieldledger_mail_oldest_seconds',
      help: 'How long the oldest mail has waited to be sent.',
    }),
    watchHandOvers: createReadGauge(registry, {
      name: 'fieldledger_hand_over_oldest_seconds',
      help: 'How long the oldest document has waited to be handed over to the access point.',
    }),
    watchMachines: createReadGauge(registry, {
      name: 'fieldledger_machines_away',
      help: 'Machines of a database on several that do not answer.',
    }),
    contentType: registry.contentType,
    text: () => Registry.merge(whole).metrics(),
  };
}

function createChangeCounter(registry: Registry): FeedMetrics['changesAnswered'] {
  const changes = new Counter({
    name: 'fieldledger_feed_changes_total',
    help: 'Changes that came over HTTP, by token and by the status of their answer.',
    labelNames: ['token', 'status'],
    registers: [registry],
  });
  return (token, status, count) => changes.inc({ token, status }, count);
}

function watchFeeds(registers: Registry[], read: Parameters<Metrics['watchFeeds']>[0]): void {
  const watch = (label: keyof typeof read, name: string, help: string) =>
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers,
      async collect() {
        const times = await read[label]().catch(() => undefined);
        if (!times) return;
        this.reset();
        for (const [value, atMs] of times) this.set({ [label]: value }, atMs / 1000);
      },
    });
  watch(
    'company',
    'fieldledger_company_last_change_timestamp_seconds',
    'When a company that is served last changed, of the first 1000 by their ids.',
  );
  watch(
    'source',
    'fieldledger_feed_source_last_change_timestamp_seconds',
    'When a change of a source was last applied, of the first 1000 by their names.',
  );
}

function createDeliveryMetrics(registry: Registry): DeliveryMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: 'fieldledger_delivery_attempts_total',
    help: 'Attempts to deliver an event, by the new state of the delivery.',
    labelNames: ['outcome'],
    registers,
  });
  const seconds = new Histogram({
    name: 'fieldledger_delivery_attempt_seconds',
    help: 'Time that an attempt took.',
    buckets: [0.005, 0.025, 0.1, 0.25, 1, 2.5, 5, 10],
    registers,
  });
  const delay = new Histogram({
    name: 'fieldledger_delivery_first_attempt_seconds',
    help: 'Time from the commit of an event to its first attempt.',
    buckets: [0.001, 0.005, 0.01, 0.05, 0.25, 1, 10, 60, 600],
    registers,
  });
  const stale = new Counter({
    name: 'fieldledger_delivery_completions_stale_total',
    help: 'Results dropped because another worker had taken over the delivery.',
    registers,
  });
  return {
    attempted(outcome, elapsed) {
      attempts.inc({ outcome });
      seconds.observe(elapsed);
    },
    firstAttempted: (elapsed) => delay.observe(Math.max(0, elapsed)),
    completionsStale: (count) => stale.inc(count),
    watchBacklog: (read) => watchBacklog(registers, read),
  };
}

function watchBacklog(registers: Registry[], read: () => Promise<Backlog>): void {
  const oldest = new Gauge({
    name: 'fieldledger_delivery_oldest_due_seconds',
    help: 'How long the oldest delivery that could be sent has been due, of the first 10000 webhooks with any.',
    registers,
  });
  const failing = new Gauge({
    name: 'fieldledger_webhooks_failing',
    help: 'Webhooks to which nothing was delivered since an attempt failed.',
    registers,
  });
  new Gauge({
    name: 'fieldledger_delivery_backlog',
    help: 'Deliveries that wait for a slot or for a paused webhook, counted up to 10000.',
    registers,
    async collect() {
      // A metric that can't be read must not hide the others.
      const backlog = await read().catch(() => undefined);
      if (!backlog) return;
      this.set(backlog.waitingCount);
      oldest.set(backlog.oldestSeconds);
      failing.set(backlog.failingCount);
    },
  });
}

function createReadGauge(registry: Registry, named: { name: string; help: string }): Metrics['watchMails'] {
  let readValue = async () => 0;
  new Gauge({
    ...named,
    registers: [registry],
    async collect() {
      this.set(await readValue().catch(() => NaN));
    },
  });
  return (read) => (readValue = read);
}

function createDocumentMetrics(registry: Registry): DocumentMetrics {
  const registers = [registry];
  const printed = new Counter({
    name: 'fieldledger_documents_printed_total',
    help: 'Documents printed as a PDF, by result.',
    labelNames: ['outcome'],
    registers,
  });
  // Each series starts at 0, because Prometheus doesn't see the increase of a series that begins at 1.
  for (const outcome of PRINTED) printed.inc({ outcome }, 0);
  const seconds = new Histogram({
    name: 'fieldledger_document_seconds',
    help: 'Time from the request for a document that had to be printed to its PDF, the wait for its turn included.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 5, 10, 30],
    registers,
  });
  const refused = new Counter({
    name: 'fieldledger_documents_refused_total',
    help: 'Documents that were not taken on because too many were waiting.',
    registers,
  });
  return {
    printed(outcome, elapsed) {
      printed.inc({ outcome });
      seconds.observe(elapsed);
    },
    refused: () => refused.inc(),
    watchWaiting(read) {
      new Gauge({
        name: 'fieldledger_documents_waiting',
        help: 'Documents that wait to be printed.',
        registers,
        collect() {
          this.set(read());
        },
      });
    },
  };
}
