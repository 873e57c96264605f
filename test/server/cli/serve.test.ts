import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import got from 'got';
import t from 'tap';

import { isReferenceBuilt } from '../../../src/contract/document.ts';
import type { ApiKey } from '../../../src/server/store/keys/keys.ts';
import { openWorkplace, until, type Workplace } from '../../_command.ts';
import { engineNames } from '../../_server.ts';

/** Asks a path of a running server, with a key when one is given. */
async function ask(address: string, path: string, key?: string) {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const { statusCode, body } = await got(address + path, {
    headers,
    throwHttpErrors: false,
    retry: { limit: 0 },
  });
  return { status: statusCode, body: JSON.parse(body) as { data?: unknown; error?: { code: string } } };
}

/** `200`, or the status and the code of an error. */
async function verdict(address: string, path: string, key: string): Promise<string> {
  const { status, body } = await ask(address, path, key);
  return [status, body.error?.code].filter(Boolean).join(' ');
}

/** Starts a server with a company and a key of it. */
async function serveCompany(workplace: Workplace) {
  await workplace.json(['company', 'create', 'acme', '--api', '--invoicing']);
  const { key, id } = await workplace.json<ApiKey & { key: string }>(['key', 'create', 'acme']);
  const { greeting } = await workplace.serve();
  return { address: greeting.address, key, id };
}

t.test('without --json the greeting is prose with lines to copy', async (t) => {
  await using workplace = await openWorkplace();
  const listening = 'Listening on http://127.0.0.1:';
  const child = workplace.start(['serve', '--demo'], { PORT: '0', LOG_LEVEL: 'silent' });
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

t.test('the first answer with the demo in place comes in a moment', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.json(['demo']);
  const times: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    const startedAt = performance.now();
    const served = await workplace.serve(['--demo']);
    const { greeting } = served;
    t.equal(await verdict(greeting.address, '/api/v1/jobs', greeting.demo?.key ?? ''), '200');
    times.push(Math.round(performance.now() - startedAt));
    await served.end('SIGTERM');
  }
  // A second is what it must take on an idle machine; this one may be busy with other tests.
  t.ok(Math.min(...times) < 10_000, `${times.join(', ')} ms`);
});

for (const engine of engineNames) {
  t.test(
    `${engine}: switches, modules and revocations take effect on a running server at once`,
    async (t) => {
      await using workplace = await openWorkplace(engine);
      const { address, key, id } = await serveCompany(workplace);
      const set = (...settings: string[]) => workplace.json(['company', 'set', 'acme', ...settings]);
      const both = async () => [
        await verdict(address, '/api/v1/jobs', key),
        await verdict(address, '/api/v1/invoices', key),
      ];
      t.strictSame(await both(), ['200', '200']);
      await set('--invoicing', 'off');
      t.strictSame(await both(), ['200', '503 invoicing_not_enabled']);
      await set('--modules', 'invoices');
      t.strictSame(await both(), ['403 module_not_licensed', '503 invoicing_not_enabled']);
      await set('--modules', 'jobs');
      t.strictSame(await both(), ['200', '403 module_not_licensed']);
      await set('--api', 'off');
      t.strictSame(await both(), ['403 api_not_enabled', '403 api_not_enabled']);
      await set('--subscription', 'off');
      t.strictSame(await both(), ['403 company_unavailable', '403 company_unavailable']);
      await set('--subscription', 'on', '--api', 'on', '--modules', 'jobs,invoices', '--invoicing', 'on');
      t.strictSame(await both(), ['200', '200']);
      await workplace.json(['key', 'revoke', 'acme', id]);
      t.strictSame(await both(), ['401 revoked_key', '401 revoked_key']);
    },
  );
}

t.test('sqlite: a second server is refused in a sentence, other commands are not', async (t) => {
  await using workplace = await openWorkplace();
  const first = await workplace.serve();
  t.strictSame(await workplace.run(['serve'], { PORT: '0' }), {
    exitCode: 1,
    stdout: '',
    stderr: `fieldledger: Another process serves, copies or restores the database ${workplace.databaseUrl}, and a SQLite file has one at a time. Stop that one, or use PostgreSQL.\n`,
  });
  t.strictSame(await workplace.json(['company', 'list']), []);
  await first.end('SIGKILL');
  const next = await workplace.serve();
  t.strictSame(await next.end('SIGTERM'), { exitCode: 0, signal: null }, 'a killed one leaves no lock');
});

t.test('started again it keeps its data and its key, also after a kill', async (t) => {
  await using workplace = await openWorkplace();
  const path = '/api/v1/customers?limit=100';
  const first = await workplace.serve(['--demo']);
  const { demo, address } = first.greeting;
  t.equal(demo?.isNew, true);
  const before = await ask(address, path, demo?.key);
  t.equal(before.status, 200);
  await first.end('SIGKILL');
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const served = await workplace.serve(['--demo']);
    t.strictSame(served.greeting.demo, { company: 'brennan', key: demo?.key, isNew: false });
    t.strictSame(await ask(served.greeting.address, path, demo?.key), before);
    await served.end(signal);
  }
});

t.test('a port in use ends the start with the setting in the message', async (t) => {
  await using workplace = await openWorkplace();
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  t.teardown(() => holder.close());
  // A server that listens on a port has an address of this shape.
  const PORT = String((holder.address() as AddressInfo).port);
  const message = `Port ${PORT} of 127.0.0.1 is in use. Set PORT to a free one.`;
  t.strictSame(await workplace.run(['serve', '--json'], { PORT }), {
    exitCode: 1,
    stdout: `${JSON.stringify({ error: { message } })}\n`,
    stderr: `fieldledger: ${message}\n`,
  });
});
