import got from 'got';
import t from 'tap';

import { openWorkplace, until } from '../../_command.ts';
import { engineNames } from '../../_server.ts';

for (const engine of engineNames) {
  t.test(`${engine}: deliver runs until it is told to stop, beside a server`, async (t) => {
    await using workplace = await openWorkplace(engine);
    const served = await workplace.serve([], { DELIVER_WEBHOOKS: 'off' });
    const deliver = workplace.start(['deliver', '--json'], { LOG_LEVEL: 'info' });
    await until(() => deliver.output.stdout.endsWith('\n'));
    t.strictSame(JSON.parse(deliver.output.stdout), { delivering: true });
    t.strictSame(await deliver.end('SIGHUP'), { exitCode: 0, signal: null });
    t.match(deliver.output.stderr, /deliveries\.started[^]*deliveries\.stopped/);
    const { body } = await got(`${served.greeting.management}/metrics`);
    t.match(body, /^fieldledger_delivery_backlog 0$/m, 'which tells how much waits, whoever delivers it');
    t.strictSame(await served.end('SIGTERM'), { exitCode: 0, signal: null });
  });
}

t.test(
  'deliver has a port for operators where it is told to, on this machine alone unless told otherwise',
  async (t) => {
    await using workplace = await openWorkplace();
    const deliver = workplace.start(['deliver', '--json'], { MANAGEMENT_PORT: '0' });
    await until(() => deliver.output.stdout.endsWith('\n'));
    const { management } = JSON.parse(deliver.output.stdout) as { management: string };
    t.match(management, /^http:\/\/127\.0\.0\.1:\d+$/);
    const page = await got(`${management}/metrics`);
    t.match(page.headers['content-type'], /^text\/plain; version=/);
    t.match(page.body, /^fieldledger_delivery_backlog 0$/m);
    t.match(page.body, /^fieldledger_delivery_oldest_due_seconds 0$/m);
    for (const [path, body] of [
      ['healthz', '{"status":"alive"}'],
      ['readyz', '{"status":"ready"}'],
    ])
      t.match(await got(`${management}/${path}`), { body, headers: { 'x-content-type-options': 'nosniff' } });
    const { port } = new URL(management);
    const other = await workplace.run(['deliver'], { MANAGEMENT_PORT: port });
    t.equal(other.exitCode, 1);
    t.match(
      other.stderr,
      /Set MANAGEMENT_PORT to a free one/,
      'a port that is taken is no reason to go on without',
    );
    t.strictSame(await deliver.end('SIGTERM'), { exitCode: 0, signal: null });
  },
);

t.test('a server delivers too, unless told not to, and tells how much waits', async (t) => {
  await using workplace = await openWorkplace();
  const served = await workplace.serve();
  const { body } = await got(`${served.greeting.management}/metrics`);
  for (const line of ['fieldledger_delivery_backlog 0', 'fieldledger_delivery_oldest_due_seconds 0'])
    t.ok(body.includes(`\n${line}\n`), line);
  t.match(body, /fieldledger_delivery_completions_stale_total 0/);
  t.strictSame(await served.end('SIGTERM'), { exitCode: 0, signal: null });
});
