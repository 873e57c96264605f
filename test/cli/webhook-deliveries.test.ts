import t from 'tap';

import { openWorkplace } from '../_command.ts';

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
  t.match((await workplace.call(list)).stdout, new RegExp(`^${id}  ping  \\S+  waiting  next \\S+\n$`));
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
