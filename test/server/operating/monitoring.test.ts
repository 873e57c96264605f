import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import got from 'got';
import t from 'tap';
import { parse } from 'yaml';

import { createMetrics } from '../../../src/server/process/metrics.ts';
import { openWorkplace } from '../../_command.ts';

/*
 * Holds the alert rules and the dashboard against what /metrics prints.
 */

const root = join(import.meta.dirname, '..', '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; description: string };
}
interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { refId: string; expr: string; legendFormat: string; datasource: { uid: string } }[];
}
const { groups } = parse(read('src/server/operating/alerts.yaml')) as {
  groups: { name: string; rules: Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('src/server/operating/dashboard.json')) as {
  templating: { list: { name: string; query: string | { query: string } }[] };
  panels: Panel[];
};
const targets = dashboard.panels.flatMap(({ targets = [] }) => targets);
const expressions = [...rules, ...targets].map(({ expr }) => expr);

/** Written by Prometheus itself about each process that it reads. */
const OF_PROMETHEUS = { series: ['up'], labels: ['job', 'instance'] };

/** Metrics of Node and the process that neither an alert nor a panel needs. */
const UNUSED = [
  // In process_cpu_seconds_total.
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  // Memory that Node reserves, and not what it uses.
  'process_virtual_memory_bytes',
  'process_heap_bytes',
  'nodejs_heap_size_total_bytes',
  // For maintainers who look for a leak.
  'nodejs_external_memory_bytes',
  'nodejs_heap_space_size_total_bytes',
  'nodejs_heap_space_size_used_bytes',
  'nodejs_heap_space_size_available_bytes',
  ...['resources', 'handles', 'requests'].flatMap((name) => [
    `nodejs_active_${name}`,
    `nodejs_active_${name}_total`,
  ]),
  // The 99th percentile says it.
  'nodejs_eventloop_lag_seconds',
  ...['min', 'max', 'mean', 'stddev', 'p50', 'p90'].map((name) => `nodejs_eventloop_lag_${name}_seconds`),
];

function namesIn(expression: string): { series: string[]; labels: string[] } {
  const labels: string[] = [];
  const keep = (list: string, name: RegExp) => {
    labels.push(...[...list.matchAll(name)].map(([label]) => label));
    return '';
  };
  const bare = expression
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}/g, (list) => keep(list, /\w+(?=\s*[=!])/g))
    .replaceAll(/\b(?:by|without|on|ignoring)\s*(\([^)]*\))/g, (_all, list: string) => keep(list, /\w+/g))
    .replaceAll(/\[\w+\]/g, '');
  const series = [...bare.matchAll(/(?<![\w.])[a-z_:][\w:]*\b(?!\s*\()/gi)].map(([name]) => name);
  return { series: series.filter((name) => !['and', 'or', 'unless', 'by'].includes(name)), labels };
}

/** The metrics on a page in Prometheus' text format, each with its series. */
function metricsOf(text: string): Map<string, string[]> {
  return new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => [
      name,
      type === 'histogram' ? ['bucket', 'sum', 'count'].map((end) => `${name}_${end}`) : [name],
    ]),
  );
}

t.test('every series that an alert or a panel names is printed, and every metric is used', async (t) => {
  // A company that has changed has a series of its own.
  await using workplace = await openWorkplace('sqlite', { contents: 'example' });
  const { address, management, feed } = (await workplace.serveHere([], { FEED_PORT: '0' })).greeting;
  await got(`${address}/healthz`);
  const { token } = await workplace.json<{ token: string }>(
    'feed-token create --name erp --companies all --changes all',
  );
  const headers = { authorization: `Bearer ${token}` };
  const change = { change: 'job.complete', with: { id: 'job_0002' }, source: 'erp', sequence: 1 };
  await got.post(`${feed}/feed/v1/changes`, { headers, json: [{ id: '1', company: 'brennan', ...change }] });
  const text = await got(`${management}/metrics`).text();
  const metrics = metricsOf(text);
  const used = expressions.map(namesIn);
  const series = new Set(used.flatMap((names) => names.series));
  const printed = new Set([...[...metrics.values()].flat(), ...OF_PROMETHEUS.series]);
  for (const name of series) t.ok(printed.has(name), name);
  const labels = new Set(used.flatMap((names) => names.labels));
  const labelled = [...text.matchAll(/[{,](\w+)="/g)].map(([, label = '']) => label);
  const known = [...labelled, ...OF_PROMETHEUS.labels];
  for (const label of labels) t.ok(known.includes(label), label);
  const unused = [...metrics].filter(([, names]) => !names.some((name) => series.has(name)));
  t.strictSame(unused.map(([name]) => name).sort(), [...UNUSED].sort());
});

t.test('a failure of printing counts as an increase from the first', async (t) => {
  const metrics = createMetrics();
  t.match(await metrics.text(), /^fieldledger_documents_printed_total\{outcome="failed"\} 0$/m);
  metrics.documents.printed('failed', 1);
  t.match(await metrics.text(), /^fieldledger_documents_printed_total\{outcome="failed"\} 1$/m);
});

t.test('the names in an expression are found', async (t) => {
  t.strictSame(namesIn('sum by (le) (rate(a_bucket{job="x", b!~"y|z"}[5m])) / c:d > 1e9 and e{} < 0.5'), {
    series: ['a_bucket', 'c:d', 'e'],
    labels: ['job', 'b', 'le'],
  });
});

t.test('every alert says how long, how urgent, what is wrong and what to do', async (t) => {
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length, 'each has a name of its own');
  for (const rule of rules) {
    t.match(rule.alert, /^Fieldledger[A-Z][A-Za-z]+$/);
    t.match(rule.expr, /\S/, rule.alert);
    t.match(rule.expr, 'job="fieldledger"', rule.alert);
    t.match(rule.for, /^\d+[mh]$/, rule.alert);
    t.match(rule.labels.severity, /^(?:critical|warning)$/, rule.alert);
    t.match(rule.annotations.summary, /\.$/, rule.alert);
    t.match(rule.annotations.description, /\.$/, rule.alert);
  }
});

t.test('every panel of the dashboard has its place, and asks the data source that was chosen', async (t) => {
  const { panels } = dashboard;
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_cell, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`),
  );
  t.equal(new Set(cells).size, cells.length, 'none lies on another');
  t.ok(panels.every(({ gridPos: { x, w } }) => x + w <= 24));
  for (const { type, title, targets = [] } of panels) {
    t.equal(targets.length > 0, type !== 'row', title);
    t.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
  }
  for (const { expr, legendFormat, datasource } of targets) {
    t.equal(datasource.uid, '${datasource}', expr);
    t.match(expr, 'instance=~"$instance"', 'of the processes that were chosen');
    t.not(legendFormat, '', expr);
  }
  const variables = dashboard.templating.list.map(({ name }) => name);
  t.strictSame(variables, ['datasource', 'instance']);
});
