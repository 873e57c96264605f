import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

import { openEngine } from '../../src/store/engines/open-engine.ts';
import { openWorkplace, type Workplace } from '../_command.ts';
import { engineNames } from '../_server.ts';

const KEY = Buffer.alloc(32, 1).toString('base64');
const OTHER = Buffer.alloc(32, 2).toString('base64');
const REGISTER = ['webhook', 'create', 'acme', 'https://example.com'];
const MISSING =
  /^fieldledger: Signing secrets of webhooks are encrypted with a key that is not here, the one with the fingerprint [0-9a-f]{8}\. Set it as WEBHOOK_SECRET_KEY/;

async function storedSecrets({ databaseUrl }: Workplace): Promise<string[]> {
  await using engine = await openEngine(databaseUrl);
  return (await engine.run('SELECT secret FROM webhooks')).map(({ secret }) => String(secret));
}

t.test('sqlite: signing secrets are encrypted with a key that is made beside the database', async (t) => {
  await using workplace = await openWorkplace();
  const file = join(workplace.folder, 'data', 'work.db-secret-key');
  await workplace.json(['company', 'create', 'acme']);
  await workplace.json(REGISTER);
  t.match(await storedSecrets(workplace), [/^sealed1\./]);
  t.equal(statSync(file).mode & 0o777, 0o600);
  const key = readFileSync(file, 'utf8');
  await workplace.json(REGISTER);
  t.equal(readFileSync(file, 'utf8'), key, 'once');
  await workplace.json(REGISTER, { WEBHOOK_SECRET_KEY: KEY });
  t.equal((await workplace.call(['webhook', 'seal'])).exitCode, 1, 'the key that was set is missing then');
  t.equal((await workplace.call(['webhook', 'seal'], { WEBHOOK_SECRET_KEY: KEY })).exitCode, 0);
  rmSync(file);
  t.equal((await workplace.call(REGISTER, { WEBHOOK_SECRET_KEY: KEY })).exitCode, 0, 'it takes its place');
  t.notOk(existsSync(file));
});

t.test('postgres: WEBHOOK_SECRET_KEY is asked for before a first webhook is registered', async (t) => {
  await using workplace = await openWorkplace('postgres');
  await workplace.json(['company', 'create', 'acme']);
  const { exitCode, stderr } = await workplace.call(REGISTER, { WEBHOOK_SECRET_KEY: '' });
  t.equal(exitCode, 1);
  t.match(stderr, /the operator sets WEBHOOK_SECRET_KEY, the same for every server and worker/);
  t.strictSame(await storedSecrets(workplace), []);
});

for (const name of engineNames) {
  t.test(`${name}: a missing or wrong key is told when a server or a worker starts`, async (t) => {
    await using workplace = await openWorkplace(name);
    await workplace.json(['company', 'create', 'acme']);
    const { id } = await workplace.json<{ id: string }>(REGISTER, { WEBHOOK_SECRET_KEY: KEY });
    for (const given of ['', OTHER]) {
      for (const command of ['serve', 'deliver']) {
        const { exitCode, stderr } = await workplace.call([command], { WEBHOOK_SECRET_KEY: given });
        t.equal(exitCode, 1);
        t.match(stderr, MISSING, `${command} with ${given === '' ? 'none' : 'another'}`);
      }
    }
    await workplace.json(['webhook', 'delete', 'acme', id]);
    t.equal(
      (await workplace.call(REGISTER, { WEBHOOK_SECRET_KEY: OTHER })).exitCode,
      0,
      'a deleted one needs none',
    );
  });

  t.test(`${name}: secrets from before are encrypted when a server starts`, async (t) => {
    await using workplace = await openWorkplace(name);
    await workplace.json(['company', 'create', 'acme']);
    await workplace.json(REGISTER);
    {
      await using engine = await openEngine(workplace.databaseUrl);
      await engine.run("UPDATE webhooks SET secret = 'whsec_plain'");
    }
    const served = await workplace.serve();
    await served.end('SIGTERM');
    t.match(await storedSecrets(workplace), [/^sealed1\./]);
  });
}

t.test('a new database file is 0600 also in a folder that was there before', async (t) => {
  await using workplace = await openWorkplace('sqlite', { isEmpty: true });
  const folder = join(workplace.folder, 'data');
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  await workplace.json(['migrate']);
  t.equal(statSync(join(folder, 'work.db')).mode & 0o777, 0o600);
  writeFileSync(join(folder, 'work.db-secret-key'), 'half');
  await workplace.json(['company', 'create', 'acme']);
  t.match((await workplace.call(REGISTER)).stderr, /must hold a key of 32 bytes in base64/);
});
