import { join } from 'node:path';

import got from 'got';
import t from 'tap';

import { isReferenceBuilt } from '../../../src/contract/document.ts';
import { openWorkplace, until } from '../../_command.ts';

/** What a running server answers on a path: `200`, or the status and the code of an error. */
async function verdict(address: string, path: string, key = ''): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const options = { headers, throwHttpErrors: false, retry: { limit: 0 } };
  const { statusCode, body } = await got(address + path, options);
  const { error } = JSON.parse(body) as { error?: { code: string } };
  return [statusCode, error?.code].filter(Boolean).join(' ');
}

t.test('without --json the greeting is prose with lines to copy', async (t) => {
  await using workplace = await openWorkplace();
  const listening = 'Listening on http://127.0.0.1:';
  const child = workplace.start('serve --demo', { PORT: '0', LOG_LEVEL: 'silent' });
  await until(() => child.output.stdout.includes('curl'));
  const [first = '', second, third = '', fourth = ''] = child.output.stdout.split('\n');
  t.ok(first.startsWith(listening));
  const address = first.slice('Listening on '.length);
  const reference = isReferenceBuilt() ? `${address}/reference` : 'not built; "make docs" builds it';
  t.equal(second, `  Reference  ${reference}`);
  const [, key = '', url = ''] =
    /^ {2}Try it {5}curl -H 'Authorization: Bearer (\S+)' '(\S+)'$/.exec(third) ?? [];
  t.equal(url, `${address}/api/v1/invoices?limit=2`);
  t.equal(await verdict(url, '', key), '200', 'the curl line works');
  t.match(fourth, new RegExp(`^  Portal     ${address}/portal/invitation#[\\w-]+\\.[\\w-]{43}$`));
  t.strictSame(await child.end('SIGTERM'), { exitCode: 0, signal: null });
  t.equal(child.output.stderr, '', 'and a silent log is silent');
});

t.test('switches, modules and revocations take effect on a running server at once', async (t) => {
  await using workplace = await openWorkplace();
  const { json } = workplace;
  await json('company create acme --api --invoicing');
  const { key, id } = await json<{ key: string; id: string }>('key create acme --scopes all');
  const { address } = (await workplace.serveHere()).greeting;
  const both = async () => [
    await verdict(address, '/api/v1/jobs', key),
    await verdict(address, '/api/v1/invoices', key),
  ];
  t.strictSame(await both(), ['200', '200']);
  const steps: [command: string, jobs: string, invoices: string][] = [
    ['company set acme --invoicing off', '200', '503 invoicing_not_enabled'],
    ['company set acme --modules invoices', '403 module_not_licensed', '503 invoicing_not_enabled'],
    ['company set acme --modules jobs', '200', '403 module_not_licensed'],
    ['company set acme --api off', '403 api_not_enabled', '403 api_not_enabled'],
    ['company set acme --subscription off', '403 company_unavailable', '403 company_unavailable'],
    ['company set acme --subscription on --api on --modules jobs,invoices --invoicing on', '200', '200'],
    [`key revoke acme ${id}`, '401 revoked_key', '401 revoked_key'],
  ];
  for (const [command, ...expected] of steps) {
    await json(command);
    t.strictSame(await both(), expected, command);
  }
});

t.test('a second server on a port or a SQLite file is refused, and the next one goes on', async (t) => {
  await using workplace = await openWorkplace();
  const first = await workplace.serve(['--demo']);
  const database = `Another process serves, copies or restores the database ${workplace.databaseUrl}, and a SQLite file has one at a time. Stop that one, or use PostgreSQL.`;
  const port = `Port ${first.port} of 127.0.0.1 is in use. Set PORT to a free one.`;
  const elsewhere = { DATABASE_URL: `sqlite:${join(workplace.folder, 'other.db')}` };
  for (const [message, environment] of [
    [database, { PORT: '0' }],
    [port, { ...elsewhere, PORT: String(first.port) }],
  ] as const)
    t.strictSame(await workplace.call('serve --json', environment), {
      exitCode: 1,
      stdout: `${JSON.stringify({ error: { message } })}\n`,
      stderr: `fieldledger: ${message}\n`,
    });
  t.match(await workplace.json('company list'), [{ id: 'brennan' }], 'other commands are not');

  const { demo, address } = first.greeting;
  const records = (at: string) =>
    got(`${at}/api/v1/customers?limit=100`, { headers: { authorization: `Bearer ${demo?.key}` } }).text();
  const before = await records(address);
  t.equal(demo?.isNew, true);
  await first.end('SIGKILL');
  for (let round = 0; round < 2; round += 1) {
    const startedAt = performance.now();
    const { greeting, stop } = await workplace.serveHere(['--demo']);
    t.strictSame(greeting.demo, { company: 'brennan', key: demo?.key, isNew: false });
    t.equal(await records(greeting.address), before);
    // A second is what it must take on an idle machine; this one may be busy with other tests.
    t.ok(performance.now() - startedAt < 10_000, 'the first answer comes in a moment');
    t.equal(await stop(), 0, 'a killed one leaves no lock');
  }
});

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
  const headers = { 'x-content-type-options': 'nosniff' };
  t.match(await got(`${management}/healthz`), { body: '{"status":"alive"}', headers });
  t.match(await got(`${management}/readyz`), { body: '{"status":"ready"}', headers });
  t.match(
    await workplace.call('deliver', { MANAGEMENT_PORT: new URL(management).port }),
    { exitCode: 1, stderr: /Set MANAGEMENT_PORT to a free one/ },
    'a port that is taken is no reason to go on without',
  );
  t.strictSame(await deliver.end('SIGHUP'), { exitCode: 0, signal: null });
  t.match(deliver.output.stderr, /deliveries\.started[^]*deliveries\.stopped/);
});
