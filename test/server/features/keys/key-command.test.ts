import got from 'got';
import t from 'tap';

import { scopes } from '../../../../src/contract/scopes.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { listKeyHours } from '../../../../src/server/features/usage/key-usage.ts';
import type { ApiKey } from '../../../../src/server/features/keys/stored-keys.ts';
import { openWorkplace } from '../../../_command.ts';
import { engineNames } from '../../../_server.ts';

const KEY = /^fl\.acme\.[0-9a-f]{12}\.[\w-]{43}$/;

t.test('keys are created, listed without their secrets, and revoked', async (t) => {
  await using workplace = await openWorkplace();
  const { json, call } = workplace;
  await json('company create acme --api --invoicing');
  t.equal((await call('key list acme')).stdout, 'No keys.\n');

  const prose = await call("key create acme --name 'Ledger export' --scopes 'jobs:read, quotes:read'");
  const stderr = /^Keep this key in a secret store: it won't be shown again\.\n$/;
  t.match(prose, { exitCode: 0, stdout: /^\S+\n$/, stderr }, 'stdout is the key alone, ready for a pipe');
  t.match(prose.stdout.trimEnd(), KEY);
  const created = await json<ApiKey & { key: string }>('key create acme --scopes all');
  t.match(created.key, KEY);

  const listed = await json<ApiKey[]>('key list acme');
  t.strictSame(
    listed.map(({ name, company, scopes: held, revokedAt }) => ({ name, company, held, revokedAt })),
    [
      { name: 'Ledger export', company: 'acme', held: ['jobs:read', 'quotes:read'], revokedAt: null },
      { name: 'API key', company: 'acme', held: scopes, revokedAt: null },
    ],
    'the oldest first',
  );
  const last = await json<ApiKey>('key create acme --name Last --scopes jobs:read --last-day 2199-12-31');
  t.equal(last.endsAt, '2200-01-01T00:00:00.000Z');
  await call(`key revoke acme ${last.id}`);
  t.match(await call('key create acme --scopes all --last-day soon'), {
    exitCode: 1,
    stderr: /The last day "soon" must be a calendar day such as 2026-11-20/,
  });
  const [, , firstId = '', secret = ''] = prose.stdout.trim().split('.');
  t.equal(listed[0]?.id, firstId);
  const { stdout } = await call('key list acme');
  t.ok(stdout.includes(firstId) && !stdout.includes(secret) && !JSON.stringify(listed).includes(secret));

  const stateUntil = async (day: string) => {
    await using store = await openEngine(workplace.databaseUrl);
    await store.run(`UPDATE api_keys SET ends_at = '${day}T00:00:00.000Z' WHERE id = '${firstId}'`);
    return /(\w+) \d{4}-\d\d-\d\dT00:00/.exec((await call('key list acme')).stdout)?.[1];
  };
  t.equal(await stateUntil('2020-01-01'), 'ended');
  t.equal(await stateUntil('2199-01-01'), 'until');

  const revoke = `key revoke acme ${firstId}`;
  t.equal((await call(revoke)).stdout, `Revoked ${firstId} (Ledger export).\n`);
  const [first, second] = await json<ApiKey[]>('key list acme');
  t.match(first?.revokedAt, /Z$/);
  t.equal(second?.revokedAt, null);
  const again = await json<ApiKey>(revoke);
  t.equal(again.revokedAt, first?.revokedAt, 'revoking again keeps the time of the first');
});

for (const name of engineNames) {
  t.test(`${name}: what keys asked for is written down when servers are told to stop`, async (t) => {
    await using workplace = await openWorkplace(name);
    await workplace.call('company create acme --api --invoicing');
    const { key } = await workplace.json<{ key: string }>('key create acme --scopes all');
    const headers = { authorization: `Bearer ${key}` };
    const count = 2;
    for (let started = 0; started < count; started += 1) {
      const { greeting, stop } = await workplace.serveHere();
      for (let asked = 0; asked < 3; asked += 1) await got(`${greeting.address}/api/v1/jobs`, { headers });
      t.equal(await stop(), 0);
    }
    await using engine = await openEngine(workplace.databaseUrl);
    const rows = await listKeyHours(engine, 'acme', { from: '', limit: 10 });
    const answered = rows.reduce((sum, row) => sum + row.answered, 0);
    t.equal(answered, 3 * count, 'those of both servers together');
  });
}
