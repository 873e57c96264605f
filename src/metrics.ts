import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

/** What the server counts of itself, in Prometheus' text format. Labels have few values: no ids, no addresses. */
export interface Metrics {
  requestAnswered: (operation: string, status: number, seconds: number) => void;
  contentType: string;
  text: () => Promise<string>;
}

/** Creates a registry of its own, so that several servers can live in one process. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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
  return {
    requestAnswered(operation, status, elapsed) {
      requests.inc({ operation, status });
      seconds.observe({ operation }, elapsed);
    },
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}
