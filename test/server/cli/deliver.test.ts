import got from 'got';
import t from 'tap';

import { openWorkplace, until } from '../../_command.ts';

t.test('deliver runs beside a server until it is told to stop, with a port for operators', async (t) => {
  await using workplace = await openWorkplace();
  const { greeting } = await workplace.serveHere([], { DELIVER_WEBHOOKS: 'off' });
  const deliver = workplace.start('deliver --json', { MANAGEMENT_PORT: '0', LOG_LEVEL: 'info' });
  await until(() => deliver.output.stdout.endsWith('\n'));
  const { management, ...rest } = JSON.parse(deliver.output.stdout) as { management: string };
  t.strictSame(rest, { delivering: true });
  t.match(management, /^http:\/\/127\.0\.0\.1:\d+$/, 'on this machine alone unless told otherwise');
  // Each tells how much waits, whoever delivers it.
  for (const place of [greeting.management, management]) {
    const page = await got(`${place}/metrics`);
    t.match(page.headers['content-type'], /^text\/plain; version=/);
    t.match(page.body, /^fieldledger_delivery_backlog 0$/m);
    t.match(page.body, /^fieldledger_delivery_oldest_due_seconds 0$/m);
    t.match(page.body, /^fieldledger_delivery_completions_stale_total 0$/m);
  }
  for (const [path, body] of [
    ['healthz', '{"status":"alive"}'],
    ['readyz', '{"status":"ready"}'],
  ])
    t.match(await got(`${management}/${path}`), { body, headers: { 'x-content-type-options': 'nosniff' } });
  t.match(
    await workplace.call('deliver', { MANAGEMENT_PORT: new URL(management).port }),
    { exitCode: 1, stderr: /Set MANAGEMENT_PORT to a free one/ },
    'a port that is taken is no reason to go on without',
  );
  t.strictSame(await deliver.end('SIGHUP'), { exitCode: 0, signal: null });
  t.match(deliver.output.stderr, /deliveries\.started[^]*deliveries\.stopped/);
});
