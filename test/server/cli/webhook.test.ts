import t from 'tap';

import { moveEventKinds } from '../../../src/contract/events.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import type { Webhook } from '../../../src/server/store/deliveries/webhooks.ts';
import { createSecretBox, type SecretBox } from '../../../src/server/secret-box.ts';
import { openWorkplace } from '../../_command.ts';
import { engineNames } from '../../_server.ts';

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const KEY = Buffer.alloc(32, 1).toString('base64');
const OLD_KEY = Buffer.alloc(32, 3).toString('base64');
const NEXT_KEY = Buffer.alloc(32, 2).toString('base64');

for (const name of engineNames) {
  t.test(`${name}: webhooks are registered, listed without their secrets, and deleted`, async (t) => {
    await using workplace = await openWorkplace(name);
    const { json, run, call } = workplace;
    await json(['company', 'create', 'acme', '--api', '--invoicing']);
    t.equal((await call(['webhook', 'list', 'acme'])).stdout, 'There are no webhooks.\n');

    const events = 'job.created, invoice.paid';
    const prose = await run(['webhook', 'create', 'acme', 'https://Hooks.example.com', '--events', events]);
    t.equal(prose.exitCode, 0);
    const secret = prose.stdout.trimEnd();
    t.match(secret, SECRET, 'stdout is the secret alone, ready for a pipe');
    t.match(
      prose.stderr,
      /^Registered whk_[0-9a-f]{12}\. Keep its signing secret in a secret store; it is shown only now\.\n$/,
    );
    const created = await json<Webhook & { secret: string }>([
      'webhook',
      'create',
      'acme',
      'https://a.com/in',
    ]);
    t.match(created.secret, SECRET);
    t.strictSame(created.events, moveEventKinds, 'of every event, unless told');

    const listed = await json<Webhook[]>(['webhook', 'list', 'acme']);
    const [first] = listed;
    t.match(first, {
      company: 'acme',
      url: 'https://hooks.example.com/',
      events: ['job.created', 'invoice.paid'],
    });
    const { id, company, url, createdAt } = created;
    const all = [...moveEventKinds];
    const record: Webhook = { id, company, url, events: all, createdAt, pausedAt: null, madeBy: null };
    t.strictSame(listed[1], record);
    const list = await call(['webhook', 'list', 'acme']);
    t.match(
      list.stdout,
      `\n${first?.id}  ${first?.createdAt}          https://hooks.example.com/  job.created,invoice.paid\n`,
    );
    for (const text of [list.stdout, JSON.stringify(listed)]) t.notOk(/whsec|sealed/.test(text));

    const [, paused] = [
      await call(['webhook', 'pause', 'acme', created.id]),
      await json<Webhook[]>(['webhook', 'list', 'acme']),
    ];
    t.match(paused[1]?.pausedAt, /^\d{4}-/);
    t.match(await call(['webhook', 'pause', 'acme', created.id]), {
      stdout: `${created.id} (https://a.com/in) is paused since ${paused[1]?.pausedAt}.\n`,
    });
    t.match(
      (await call(['webhook', 'list', 'acme'])).stdout,
      `  since ${paused[1]?.pausedAt}  https://a.com/in `,
    );
    t.match(await call(['webhook', 'ping', 'acme', created.id]), {
      exitCode: 1,
      stderr: /is paused; resume it first/,
    });
    t.strictSame(await json(['webhook', 'resume', 'acme', created.id]), record);

    const firstId = String(first?.id);
    const wrongly = ['webhook', 'delete', 'acme', firstId, '--confirm'];
    t.match(await call(wrongly.slice(0, -1)), {
      exitCode: 2,
      stderr: /Give --confirm with the id once more/,
    });
    t.match(await call([...wrongly, created.id]), {
      exitCode: 1,
      stderr: `fieldledger: --confirm is "${created.id}", and the webhook is "${firstId}".\n`,
    });
    t.equal((await json<Webhook[]>(['webhook', 'list', 'acme'])).length, 2, 'nothing is deleted then');
    const deleted = await call([...wrongly, firstId]);
    t.equal(deleted.stdout, `Deleted ${firstId} (https://hooks.example.com/).\n`);
    t.strictSame(await json<Webhook[]>(['webhook', 'list', 'acme']), [record]);
    t.strictSame(
      await json<Webhook>(['webhook', 'delete', 'acme', created.id, '--confirm', created.id]),
      record,
    );
    t.strictSame(await json<Webhook[]>(['webhook', 'list', 'acme']), []);
  });
}

for (const name of engineNames) {
  t.test(`${name}: webhook seal encrypts anew what was stored before the key was replaced`, async (t) => {
    await using workplace = await openWorkplace(name);
    const { call, json } = workplace;
    const secrets: string[] = [];
    for (const company of ['acme', 'brown', 'zeta']) {
      await call(['company', 'create', company, '--api', '--invoicing']);
      const command = ['webhook', 'create', company, 'https://example.com'];
      const [key, previous] = company === 'brown' ? [NEXT_KEY, OLD_KEY] : [OLD_KEY, NEXT_KEY];
      const environment = { WEBHOOK_SECRET_KEY: key, WEBHOOK_SECRET_KEY_PREVIOUS: previous };
      secrets.push((await json<{ secret: string }>(command, environment)).secret);
    }
    await using engine = await openEngine(workplace.databaseUrl);
    const opened = async (box: SecretBox) => {
      const rows = await engine.run('SELECT company, id, secret FROM webhooks ORDER BY company');
      return (rows as { company: string; id: string; secret: string }[]).map((row) => {
        t.match(row.secret, /^sealed1\./);
        return box.open(row.secret, row);
      });
    };
    const missing = await call(['webhook', 'seal'], {
      WEBHOOK_SECRET_KEY: KEY,
      WEBHOOK_SECRET_KEY_PREVIOUS: OLD_KEY,
    });
    t.strictSame(
      [missing.exitCode, missing.stdout],
      [1, '2 secrets are encrypted with the key that is set now.\n'],
    );
    t.match(missing.stderr, /^fieldledger: The secret of "whk_\w+" of the company "brown" can't be opened/);

    const both = { WEBHOOK_SECRET_KEY: KEY, WEBHOOK_SECRET_KEY_PREVIOUS: NEXT_KEY };
    t.strictSame(await json(['webhook', 'seal'], both), { sealedCount: 3, problems: [] });
    t.strictSame(await opened(createSecretBox(KEY)), secrets);
    const swapped = { WEBHOOK_SECRET_KEY: NEXT_KEY, WEBHOOK_SECRET_KEY_PREVIOUS: KEY };
    t.strictSame(await json(['webhook', 'seal'], swapped), { sealedCount: 3, problems: [] });
    t.strictSame(await opened(createSecretBox(NEXT_KEY)), secrets, 'and the previous key is needed no more');
  });
}

t.test('a ping is listed, sent again, and recovered when it failed', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.json(['company', 'create', 'acme', '--api', '--invoicing']);
  const { id: webhook } = await workplace.json<{ id: string }>([
    ...['webhook', 'create', 'acme', 'https://hooks.example.com/'],
  ]);
  const { id } = await workplace.json<{ id: string }>(['webhook', 'ping', 'acme', webhook]);
  const list = ['webhook', 'deliveries', 'acme', webhook];
  t.match(await workplace.json(list), {
    deliveries: [{ id, event: 'ping', state: 'waiting', attempts: [] }],
    nextBefore: null,
  });
  t.match((await workplace.call(list)).stdout, new RegExp(`^${id}  ping +\\S+  waiting  next \\S+\n$`));
  t.strictSame(await workplace.json(['webhook', 'resend', 'acme', webhook, id]), { id });
  const since = new Date(Date.now() - 60_000).toISOString();
  t.strictSame(await workplace.json(['webhook', 'recover', 'acme', webhook, '--since', since]), { count: 0 });
  const wrong = await workplace.call(['webhook', 'recover', 'acme', webhook, '--since', 'yesterday']);
  t.equal(wrong.exitCode, 2);
  t.match(wrong.stderr, /It must be a time with an offset/);
  for (const day of ['2026-02-30', '2026-11-31', '2025-02-29']) {
    const refusal = await workplace.call([
      ...['webhook', 'recover', 'acme', webhook, '--since', `${day}T12:00:00Z`],
    ]);
    t.match(refusal, {
      exitCode: 2,
      stderr: `'${day}T12:00:00Z' is invalid. There is no ${day} in the calendar.`,
    });
  }
  t.match(await workplace.call([...list, '--before', 'dlv_none']), {
    exitCode: 1,
    stderr: /has no delivery "dlv_none"/,
  });
  t.match(await workplace.call([...list, '--limit', 'few']), {
    exitCode: 2,
    stderr: /'few' is invalid. It must be an integer from 1 to 100/,
  });
  const unknown = await workplace.call(['webhook', 'resend', 'acme', webhook, 'dlv_none']);
  t.match(unknown, { exitCode: 1, stderr: /has no delivery "dlv_none"/ });
});
