import t from 'tap';

import { subscribableKinds } from '../../../../src/contract/events.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import type { Webhook } from '../../../../src/server/features/webhooks/stored-webhooks.ts';
import { createSecretBox, type SecretBox } from '../../../../src/server/process/secret-box.ts';
import { openWorkplace } from '../../../_command.ts';

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const KEY = Buffer.alloc(32, 1).toString('base64');
const OLD_KEY = Buffer.alloc(32, 3).toString('base64');
const NEXT_KEY = Buffer.alloc(32, 2).toString('base64');

t.test('webhooks are registered, listed without their secrets, paused and deleted', async (t) => {
  await using workplace = await openWorkplace();
  const { json, call } = workplace;
  await json('company create acme --api --invoicing');
  t.equal((await call('webhook list acme')).stdout, 'No webhooks.\n');

  const prose = await call(
    "webhook create acme https://Hooks.example.com --events 'job.created, invoice.paid'",
  );
  const stderr =
    /^Registered whk_[0-9a-f]{12}\. Keep its signing secret in a secret store: it won't be shown again\.\n$/;
  t.match(prose, { exitCode: 0, stdout: /^\S+\n$/, stderr }, 'stdout is the secret alone, for a pipe');
  t.match(prose.stdout.trimEnd(), SECRET);
  const created = await json<Webhook & { secret: string }>('webhook create acme https://a.com/in');
  t.match(created.secret, SECRET);
  t.strictSame(created.events, subscribableKinds, 'of every event, unless told');

  const listed = await json<Webhook[]>('webhook list acme');
  const [first] = listed;
  const chosen = { url: 'https://hooks.example.com/', events: ['job.created', 'invoice.paid'] };
  t.match(first, { company: 'acme', ...chosen });
  const { id, company, url, createdAt } = created;
  const all = [...subscribableKinds];
  const record: Webhook = {
    id,
    company,
    url,
    description: '',
    events: all,
    pastEvents: [],
    createdAt,
    pausedAt: null,
    failingSince: null,
    isFailing: false,
    madeBy: null,
    replaces: null,
  };
  t.strictSame(listed[1], record);
  const list = await call('webhook list acme');
  t.match(
    list.stdout,
    `\n${first?.id}  ${first?.createdAt}          https://hooks.example.com/  job.created,invoice.paid\n`,
  );
  for (const text of [list.stdout, JSON.stringify(listed)]) t.notOk(/whsec|sealed/.test(text));

  t.match(await call(`webhook change acme ${id}`), { exitCode: 1, stderr: /Give --events, --description/ });
  const change = `webhook change acme ${id} --events`;
  const less = await json<Webhook>(`${change} job.updated --description Ledger`);
  t.match(less, {
    description: 'Ledger',
    events: ['job.updated'],
    pastEvents: all.filter((kind) => kind !== 'job.updated'),
  });
  t.strictSame(await json(`${change} all --description ''`), record);

  await call(`webhook pause acme ${id}`);
  const since = (await json<Webhook[]>('webhook list acme'))[1]?.pausedAt;
  t.match(since, /^\d{4}-/);
  const told = `${id} (https://a.com/in) has been paused since ${since}.\n`;
  t.match(await call(`webhook pause acme ${id}`), { stdout: told });
  t.match((await call('webhook list acme')).stdout, `  since ${since}  https://a.com/in `);
  const pinged = await call(`webhook ping acme ${id}`);
  t.match(pinged, { exitCode: 1, stderr: /is paused\. Resume it first/ });
  t.strictSame(await json(`webhook resume acme ${id}`), record);

  const remove = `webhook delete acme ${first?.id}`;
  t.match(await call(remove), { exitCode: 2, stderr: /Give --confirm with the id again/ });
  t.match(await call(`${remove} --confirm ${id}`), {
    exitCode: 1,
    stderr: `fieldledger: --confirm is "${id}", and the webhook is "${first?.id}".\n`,
  });
  t.equal((await json<Webhook[]>('webhook list acme')).length, 2, 'nothing is deleted then');
  const deleted = await call(`${remove} --confirm ${first?.id}`);
  t.equal(deleted.stdout, `Deleted ${first?.id} (https://hooks.example.com/).\n`);
  t.strictSame(await json('webhook list acme'), [record]);
  t.strictSame(await json(`webhook delete acme ${id} --confirm ${id}`), record);
  t.strictSame(await json('webhook list acme'), []);
});

t.test('webhook seal encrypts anew what was stored before the key was replaced', async (t) => {
  await using workplace = await openWorkplace();
  const { call, json } = workplace;
  const keys = (key: string, previous: string) => ({
    WEBHOOK_SECRET_KEY: key,
    WEBHOOK_SECRET_KEY_PREVIOUS: previous,
  });
  const secrets: string[] = [];
  for (const company of ['acme', 'brown', 'zeta']) {
    await call(`company create ${company}`);
    const set = company === 'brown' ? keys(NEXT_KEY, OLD_KEY) : keys(OLD_KEY, NEXT_KEY);
    const { secret } = await json<{ secret: string }>(`webhook create ${company} https://example.com`, set);
    secrets.push(secret);
  }
  await using engine = await openEngine(workplace.databaseUrl);
  const opened = async (box: SecretBox) => {
    const rows = await engine.run('SELECT company, id, secret FROM webhooks ORDER BY company');
    return (rows as { company: string; id: string; secret: string }[]).map((row) => {
      t.match(row.secret, /^sealed1\./);
      return box.open(row.secret, row);
    });
  };
  t.match(await call('webhook seal', keys(KEY, OLD_KEY)), {
    exitCode: 1,
    stdout: /^2 secrets are encrypted with the key that is set now\.\n$/,
    stderr: /^fieldledger: The secret of "whk_\w+" of the company "brown" can't be opened/,
  });
  t.strictSame(await json('webhook seal', keys(KEY, NEXT_KEY)), { sealedCount: 3, problems: [] });
  t.strictSame(await opened(createSecretBox(KEY)), secrets);
  t.strictSame(await json('webhook seal', keys(NEXT_KEY, KEY)), { sealedCount: 3, problems: [] });
  t.strictSame(await opened(createSecretBox(NEXT_KEY)), secrets, 'and the previous key is needed no more');
});

t.test('a ping is listed, sent again, and recovered when it failed', async (t) => {
  await using workplace = await openWorkplace();
  const { call, json } = workplace;
  await json('company create acme --api --invoicing');
  const { id: webhook } = await json<{ id: string }>('webhook create acme https://hooks.example.com/');
  const { id } = await json<{ id: string }>(`webhook ping acme ${webhook}`);
  const list = `webhook deliveries acme ${webhook}`;
  t.match(await json(list), {
    deliveries: [{ id, event: 'ping', state: 'waiting', attempts: [] }],
    nextBefore: null,
  });
  t.match((await call(list)).stdout, new RegExp(`^${id}  ping +\\S+  waiting  next \\S+\n$`));
  t.strictSame(await json(`webhook resend acme ${webhook} ${id}`), { id });
  const recover = `webhook recover acme ${webhook} --since`;
  const since = new Date(Date.now() - 60_000).toISOString();
  t.strictSame(await json(`${recover} ${since}`), { count: 0 });
  const refusals: [line: string, exitCode: number, stderr: string][] = [
    [`${recover} yesterday`, 2, 'It must be a time with an offset'],
    [`${recover} 2026-02-30T12:00:00Z`, 2, 'is invalid. There is no 2026-02-30 in the calendar.'],
    [`${list} --before dlv_none`, 1, 'has no delivery "dlv_none"'],
    [`${list} --limit 101`, 2, "'101' is invalid. It must be an integer from 1 to 100"],
    [`webhook resend acme ${webhook} dlv_none`, 1, 'has no delivery "dlv_none"'],
  ];
  for (const [line, exitCode, stderr] of refusals) t.match(await call(line), { exitCode, stderr }, line);
});
