import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import got from 'got';
import t from 'tap';

import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { linesOf, openWorkplace, until, type Workplace } from '../../../_command.ts';
import { engineNames } from '../../../_server.ts';

const KEY = Buffer.alloc(32, 1).toString('base64');
const OTHER = Buffer.alloc(32, 2).toString('base64');
const REGISTER = 'webhook create acme https://example.com';
const MISSING =
  /^Signing secrets of webhooks are encrypted with a key that is not here, the one with the fingerprint [0-9a-f]{8}, and their deliveries are held\. Second factors encrypted with it accept only recovery codes\. Set it as WEBHOOK_SECRET_KEY/;

const HELD = {
  status: 'ready',
  impairment: 'Deliveries of webhooks are held: a key of signing secrets is missing.',
};
const readiness = (address: string) => got(`${address}/readyz`).json();

async function storedSecrets({ databaseUrl }: Workplace): Promise<string[]> {
  await using engine = await openEngine(databaseUrl);
  return (await engine.run('SELECT secret FROM webhooks')).map(({ secret }) => String(secret));
}

t.test('sqlite: signing secrets are encrypted with a key that is made beside the database', async (t) => {
  await using workplace = await openWorkplace();
  const file = join(workplace.folder, 'data', 'work.db-secret-key');
  await workplace.json('company create acme');
  await workplace.json(REGISTER);
  t.match(await storedSecrets(workplace), [/^sealed1\./]);
  t.equal(statSync(file).mode & 0o777, 0o600);
  const key = readFileSync(file, 'utf8');
  await workplace.json(REGISTER);
  t.equal(readFileSync(file, 'utf8'), key, 'once');
  await workplace.json(REGISTER, { WEBHOOK_SECRET_KEY: KEY });
  t.equal((await workplace.call('webhook seal')).exitCode, 1, 'the key that was set is missing then');
  t.equal((await workplace.call('webhook seal', { WEBHOOK_SECRET_KEY: KEY })).exitCode, 0);
  rmSync(file);
  t.equal((await workplace.call(REGISTER, { WEBHOOK_SECRET_KEY: KEY })).exitCode, 0, 'it takes its place');
  t.notOk(existsSync(file));
});

t.test('postgres: WEBHOOK_SECRET_KEY is asked for before a first webhook is registered', async (t) => {
  await using workplace = await openWorkplace('postgres');
  await workplace.json('company create acme');
  const stderr = /the operator sets WEBHOOK_SECRET_KEY, the same for every server and worker/;
  t.match(await workplace.call(REGISTER, { WEBHOOK_SECRET_KEY: '' }), { exitCode: 1, stderr });
  t.strictSame(await storedSecrets(workplace), []);
});

for (const name of engineNames) {
  t.test(`${name}: without the key the API is served, deliveries are held, and both are told`, async (t) => {
    await using workplace = await openWorkplace(name);
    const { call, json } = workplace;
    await json('company create acme --api');
    const { key } = await json<{ key: string }>('key create acme --scopes all');
    const headers = { authorization: `Bearer ${key}` };
    const { id } = await json<{ id: string }>(REGISTER, { WEBHOOK_SECRET_KEY: KEY });
    const { id: delivery } = await json<{ id: string }>(`webhook ping acme ${id}`);
    for (const given of ['', OTHER])
      for (const deliver of ['on', 'off']) {
        const settings = { WEBHOOK_SECRET_KEY: given, DELIVER_WEBHOOKS: deliver };
        const { greeting, stop } = await workplace.serveHere([], settings);
        t.strictSame(await readiness(greeting.address), HELD);
        const page = await got(`${greeting.address}/api/v1/jobs`, { headers }).json();
        t.strictSame(page, { data: [], nextCursor: null });
        await stop();
        const { deliveries } = await json<{ deliveries: unknown[] }>(`webhook deliveries acme ${id}`);
        t.match(deliveries, [{ id: delivery, state: 'waiting', attempts: [] }]);
      }
    t.match(await json('webhook delete --unreadable', { WEBHOOK_SECRET_KEY: KEY }), []);
    const another = { WEBHOOK_SECRET_KEY: OTHER };
    const other = await json<{ id: string }>(REGISTER, another);
    t.match(await json('webhook delete --unreadable', another), [{ id, company: 'acme' }]);
    t.match(await json('webhook list acme'), [{ id: other.id }]);
    const healed = await workplace.serveHere([], another);
    t.strictSame(await readiness(healed.greeting.address), { status: 'ready' });
    t.match(await call('webhook delete acme'), { exitCode: 2, stderr: /Name a company and a webhook/ });
  });
}

t.test('a server and a worker without the key say so in their logs', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.json('company create acme');
  await workplace.json(REGISTER, { WEBHOOK_SECRET_KEY: KEY });
  for (const command of ['serve', 'deliver']) {
    const running = workplace.start(command, { WEBHOOK_SECRET_KEY: OTHER, PORT: '0' });
    await until(() => running.output.stderr.includes('started'));
    t.notMatch(running.output.stdout, 'Metrics', 'no port for operators unless there has to be one');
    t.match(linesOf(running.output.stderr)[0], { level: 50, msg: 'deliveries.held', problem: MISSING });
    await running.end('SIGTERM');
  }
});

t.test('a new database file is 0600 also in a folder that was there before', async (t) => {
  await using workplace = await openWorkplace('sqlite', { isEmpty: true });
  const folder = join(workplace.folder, 'data');
  mkdirSync(folder, { mode: 0o755 });
  await workplace.json('migrate');
  t.equal(statSync(join(folder, 'work.db')).mode & 0o777, 0o600);
  writeFileSync(join(folder, 'work.db-secret-key'), 'half');
  await workplace.json('company create acme');
  t.match((await workplace.call(REGISTER)).stderr, /must hold a key of 32 bytes in base64/);
});
