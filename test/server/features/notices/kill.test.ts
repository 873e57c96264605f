// Long: it kills processes that mail.
import { sql } from 'kysely';
import t, { type Test } from 'tap';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { addNotice } from '../../../../src/server/store/accounts/notice-rows.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { openWorkplace, type Running, until, type Workplace } from '../../../_command.ts';
import { type EngineName, engineNames } from '../../../_server.ts';
import { addAdministrator } from '../../portal/_portal.ts';
import { startMailServer, type Stage } from './_mail-server.ts';

/** How often a process is killed on each engine. */
const KILLS = Number(process.env.MAIL_KILLS ?? 5);
/** Where: before it looks for the notice, and at each stage of the dialogue. */
const stages: ('committed' | Stage)[] = ['committed', 'connected', 'addressed', 'begun', 'taken'];
/** Somebody is told 20 times of each. */
const kinds = ['key.created', 'webhook.registered', 'invitation.accepted', 'administrator.added'] as const;

/** A server or a worker, with a mail server of its own, which tells whose dialogue it is. */
async function openMailer(t: Test, place: Workplace, command: 'serve' | 'deliver', host: string) {
  const server = await startMailServer(t, { host });
  const settings = {
    ...{ SMTP_URL: server.url, MAIL_FROM: 'notices@fieldledger.example', BASE_URL: 'https://f.example' },
    ...{ PORT: '0', MANAGEMENT_PORT: '0' },
  };
  let running: Running | undefined;
  return {
    server,
    start: async () => {
      if (running !== undefined) return;
      const begun = place.start([command, '--json'], settings);
      running = begun;
      // It may be killed before it has greeted.
      await Promise.race([until(() => begun.output.stdout.endsWith('\n')), begun.ended]);
    },
    end: async (signal: NodeJS.Signals) => {
      const ended = running?.end(signal);
      running = undefined;
      await ended;
    },
  };
}

async function mailWithKills(t: Test, name: EngineName) {
  await using place = await openWorkplace(name);
  await place.call(['migrate']);
  await using engine = await openEngine(place.databaseUrl);
  await createCompany(engine, 'acme', {}, new Date());
  for (const email of ['aoife@acme.example', 'conor@acme.example'])
    await addAdministrator(engine, { company: 'acme', email });
  const mailers = [
    await openMailer(t, place, 'serve', '127.0.0.1'),
    await openMailer(t, place, 'deliver', '127.0.0.2'),
  ];
  const mails = () =>
    mailers.flatMap(({ server }) => server.mails).map(({ headers }) => headers.get('message-id') ?? '');
  const countOf = (id: string) => mails().filter((one) => one.startsWith(`<${id}@`)).length;
  /** Notices whose attempt was cut off, how often, and how many mails of each had come when it was the last time. */
  const cut = new Map<string, { times: number; came: number }>();
  /** Lets the eight minutes of a lease pass, while nobody has one who is alive. */
  const endLeases = async () => {
    const rows = await engine.write(sql<{ id: string }>`
      UPDATE notices SET due_at = ${new Date().toISOString()}
      WHERE company = 'acme' AND state = 'sending' RETURNING id`);
    for (const { id } of rows) cut.set(id, { times: (cut.get(id)?.times ?? 0) + 1, came: countOf(id) });
  };
  const start = () => Promise.all(mailers.map((mailer) => mailer.start()));
  for (let kill = 0; kill < KILLS; kill += 1) {
    const stage = stages[kill % stages.length];
    const killed = Promise.withResolvers<undefined>();
    let isStruck = false;
    for (const mailer of mailers)
      mailer.server.behaviour.reached = async (reached) => {
        if (isStruck || reached !== stage) return;
        isStruck = true;
        await mailer.end('SIGKILL');
        killed.resolve(undefined);
      };
    if (stage === 'committed') await start();
    const kind = kinds[kill % kinds.length] ?? 'key.created';
    const notice = { company: 'acme', kind, details: {}, now: new Date() };
    await engine.transaction((transaction) => addNotice(transaction, notice));
    if (stage === 'committed') await mailers[kill % 2]?.end('SIGKILL');
    else await Promise.all([start(), killed.promise]);
    // The other one finishes what it has begun.
    await Promise.all(mailers.map(({ end }) => end('SIGTERM')));
    await until(() => mailers.every(({ server }) => server.isIdle()));
    await endLeases();
  }
  await start();
  const rows = () => engine.db.selectFrom('notices').select(['id', 'state']).execute();
  await until(async () => (await rows()).every(({ state }) => state === 'sent'));
  const sent = await rows();
  t.equal(sent.length, KILLS * 2);
  t.equal(new Set(mails()).size, sent.length, 'nothing else is mailed');
  for (const { id } of sent) {
    const { times, came } = cut.get(id) ?? { times: 0, came: 0 };
    t.equal(countOf(id), 1 + came, `once, and once more for each of ${came} that came before the kill`);
    t.ok(came <= times);
  }
  const twice = [...cut.values()].filter(({ came }) => came > 0).length;
  t.comment(`${KILLS} kills cut ${cut.size} mails off, ${twice} of them after they had come`);
  t.ok(cut.size >= KILLS - Math.ceil(KILLS / stages.length) && twice > 0);
}

for (const name of engineNames)
  t.test(
    `${name}: whenever a server or a worker is killed, each notice is mailed, and again only if it had come before`,
    (t) => mailWithKills(t, name),
  );
