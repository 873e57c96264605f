import got from 'got';
import t from 'tap';

import { openWorkplace, until } from '../_command.ts';
import { engineNames } from '../_server.ts';

for (const engine of engineNames) {
  t.test(`${engine}: deliver runs until it is told to stop, beside a server`, async (t) => {
    await using workplace = await openWorkplace(engine);
    const served = await workplace.serve([], { DELIVER_WEBHOOKS: 'off' });
    const deliver = workplace.start(['deliver', '--json'], { LOG_LEVEL: 'info' });
    await until(() => deliver.output.stdout.endsWith('\n'));
    t.strictSame(JSON.parse(deliver.output.stdout), { delivering: true });
    t.strictSame(await deliver.end('SIGHUP'), { exitCode: 0, signal: null });
    t.match(deliver.output.stderr, /deliveries\.started[^]*deliveries\.stopped/);
    const { body } = await got(`${served.greeting.address}/metrics`);
    t.match(body, /^fieldledger_delivery_backlog 0$/m, 'which tells how much waits, whoever delivers it');
    t.strictSame(await served.end('SIGTERM'), { exitCode: 0, signal: null });
  });
}

t.test(
  'deliver shows its metrics where it is told to, on this machine alone unless told otherwise',
  async (t) => {
    await using workplace = await openWorkplace();
    const deliver = workplace.start(['deliver', '--json'], { METRICS_PORT: '0' });
    await until(() => deliver.output.stdout.endsWith('\n'));
    const { metrics } = JSON.parse(deliver.output.stdout) as { metrics: string };
    t.match(metrics, /^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    const page = await got(metrics);
    t.match(page.headers['content-type'], /^text\/plain; version=/);
    t.match(page.body, /^fieldledger_delivery_backlog 0$/m);
    t.match(page.body, /^fieldledger_delivery_oldest_due_seconds 0$/m);
    const ask = (url: string, method: 'GET' | 'POST' = 'GET') => got(url, { method, throwHttpErrors: false });
    const elsewhere = await ask(metrics.replace('metrics', 'healthz'));
    t.match(elsewhere, { statusCode: 404, headers: { 'x-content-type-options': 'nosniff' } });
    t.match(await ask(metrics, 'POST'), { statusCode: 405, headers: { allow: 'GET, HEAD' } });
    const port = new URL(metrics).port;
    const other = await workplace.run(['deliver'], { METRICS_PORT: port });
    t.equal(other.exitCode, 1);
    t.match(
      other.stderr,
      /Set METRICS_PORT to a free one/,
      'a port that is taken is no reason to go on without',
    );
    t.strictSame(await deliver.end('SIGTERM'), { exitCode: 0, signal: null });
  },
);

t.test('a server delivers too, unless told not to, and tells how much waits', async (t) => {
  await using workplace = await openWorkplace();
  const served = await workplace.serve();
  const { body } = await got(`${served.greeting.address}/metrics`);
  for (const line of ['fieldledger_delivery_backlog 0', 'fieldledger_delivery_oldest_due_seconds 0'])
    t.ok(body.includes(`\n${line}\n`), line);
  t.match(body, /fieldledger_delivery_completions_stale_total 0/);
  t.strictSame(await served.end('SIGTERM'), { exitCode: 0, signal: null });
});
