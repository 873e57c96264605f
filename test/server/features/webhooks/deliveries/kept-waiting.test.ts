import { UsageError } from '../../../../../src/errors.ts';
import type { Engine } from '../../../../../src/server/store/engines/engine.ts';
import { listDeliveries, ping } from '../../../../../src/server/features/webhooks/deliveries/deliveries.ts';
import { purge } from '../../../../../src/server/commands/purge.ts';
import {
  deleteWebhook,
  pauseWebhook,
  resumeWebhook,
} from '../../../../../src/server/features/webhooks/registration.ts';
import { createSecretBox } from '../../../../../src/server/process/secret-box.ts';
import { sealedSecret, SECRET_KEY, until } from '../../../../_command.ts';
import { jobCreate, openStaffedCompany } from '../../../backoffice/_changes.ts';
import { onEachEngine } from '../../../backoffice/_backoffice.ts';
import { withQueriesThrough } from '../../../store/_queries.ts';
import {
  answer,
  attemptRows,
  deliveryRows,
  forgetDeliveries,
  scriptedSender,
  settled,
  startLoop,
} from './_delivery-loop.ts';

const statesOf = async (engine: Engine) =>
  (await deliveryRows(engine)).map(({ webhook, state }) => `${webhook} ${state}`).sort();

onEachEngine('a paused webhook', async (t, { openCompany, engine, setNow }) => {
  setNow(new Date());
  const acme = await openStaffedCompany(openCompany);
  const pauseAll = () => pauseWebhook(engine, acme.id, 'whk_all', new Date());
  const resumeAll = () => resumeWebhook(engine, acme.id, 'whk_all', new Date());
  t.afterEach(async () => {
    await resumeAll();
    await forgetDeliveries(engine);
  });

  await t.test('gets nothing until it is resumed, and then at once what waited', async (t) => {
    await acme.addWebhook('whk_other', ['job.created']);
    const sender = scriptedSender(() => answer(200));
    // By itself it would look much later.
    await using loop = startLoop(engine, sender, { sleepMs: 600_000 });
    await pauseAll();
    for (let index = 0; index < 10; index += 1) await acme.apply(jobCreate());
    await until(() => sender.sent.length === 10);
    await loop.idle();
    const expected = [
      ...Array<string>(10).fill('whk_all waiting'),
      ...Array<string>(10).fill('whk_other delivered'),
    ];
    await until(async () => (await statesOf(engine)).join() === expected.join());
    const of = { company: acme.id, webhook: 'whk_all' };
    const { deliveries } = await listDeliveries(engine, of, { limit: 1 });
    t.match(deliveries, [{ state: 'waiting', nextAttemptAt: null }], 'its time is unknown');
    await resumeAll();
    await until(() => sender.sent.length === 20);
    await settled(engine, 'delivered');
    await deleteWebhook(engine, acme.id, 'whk_other', new Date());
  });

  await t.test('gets no retry that falls due meanwhile, and its schedule goes on', async (t) => {
    let nowMs = Date.now();
    const sender = scriptedSender((_request, attempt) => answer(attempt === 1 ? 500 : 200));
    await acme.apply(jobCreate());
    await using loop = startLoop(engine, sender, { now: () => new Date(nowMs) });
    await until(async () => (await statesOf(engine)).join() === 'whk_all retrying');
    await pauseAll();
    nowMs += 3_600_000;
    await loop.idle();
    t.equal(sender.sent.length, 1);
    t.match(await deliveryRows(engine), [{ state: 'waiting', failure_count: 1, attempt_count: 1 }]);
    await resumeAll();
    await until(async () => (await statesOf(engine)).join() === 'whk_all delivered');
    t.match(await attemptRows(engine), [{ status: 500 }, { number: 2, status: 200 }]);
  });

  await t.test('gets nothing though a worker had found it before', async (t) => {
    await acme.apply(jobCreate());
    let isFound = false;
    const late = withQueriesThrough(engine, async (query, run) => {
      const result = await run();
      if (!isFound && query.sql.includes('RECURSIVE scan') && result.rows.length > 0) {
        isFound = true;
        await pauseAll();
      }
      return result;
    });
    const sender = scriptedSender(() => answer(200));
    await using loop = startLoop(late, sender);
    await loop.idle();
    await until(async () => (await statesOf(engine)).join() === 'whk_all waiting');
    t.match(await deliveryRows(engine), [{ attempt_count: 0, lease: null }]);
    t.strictSame(sender.sent, []);
  });

  await t.test('hides nobody, however many there are', async (t) => {
    await pauseAll();
    await acme.apply(jobCreate());
    for (let index = 10; index < 70; index += 1) await copyWebhook(engine, acme.id, `whk_b${index}`);
    const sender = scriptedSender(() => answer(200));
    await using loop = startLoop(engine, sender, { concurrencyMax: 4 });
    await loop.idle();
    t.strictSame(sender.sent, []);
    await resumeWebhook(engine, acme.id, 'whk_b40', new Date());
    await until(() => sender.sent.length === 1);
    for (let look = 0; look < 3; look += 1) await loop.idle();
    t.equal(sender.sent.length, 1, 'and no other one is taken for it');
    await engine.run(`DELETE FROM deliveries WHERE webhook <> 'whk_all'`);
    await engine.run(`DELETE FROM webhooks WHERE id <> 'whk_all'`);
  });

  await t.test('is kept its deliveries for 30 days, and is not pinged', async (t) => {
    await acme.apply(jobCreate());
    const [event] = await engine.run('SELECT created_at FROM events');
    const later = (ms: number) => () =>
      new Date(Date.parse(String(event?.created_at)) + 30 * 86_400_000 + ms);
    await purge(engine, later(1));
    t.equal((await deliveryRows(engine)).length, 1, 'what waits for another one is kept as long as it waits');
    const paused = await pauseAll();
    await purge(engine, later(0));
    t.equal((await deliveryRows(engine)).length, 1);
    await purge(engine, later(1));
    t.equal((await deliveryRows(engine)).length, 0);
    t.equal((await pauseAll()).pausedAt, paused.pausedAt, 'paused twice, it is paused since the first time');
    await t.rejects(ping(engine, { company: acme.id, webhook: 'whk_all' }, { now: new Date() }), {
      constructor: UsageError,
      message: /"whk_all" is paused\. Resume it first/,
    });
    t.equal((await resumeAll()).pausedAt, null);
  });
});

/** Copies the rows of `whk_all` for a webhook of another id. */
async function copyWebhook(engine: Engine, company: string, id: string): Promise<void> {
  const kept = 'company, url, events, created_at, paused_at';
  await engine.run(
    `INSERT INTO webhooks (${kept}, id, secret)
     SELECT ${kept}, '${id}', '${sealedSecret(company, id)}' FROM webhooks WHERE id = 'whk_all'`,
  );
  await engine.run(
    `INSERT INTO deliveries (company, event, state, due_at, id, webhook)
     SELECT company, event, state, due_at, 'dlv_${id}', '${id}' FROM deliveries WHERE webhook = 'whk_all'`,
  );
}

const LOST = createSecretBox(Buffer.alloc(32, 9).toString('base64'));

onEachEngine('deliveries of a webhook whose key is lost', async (t, { openCompany, engine, setNow }) => {
  let nowMs = Date.now();
  setNow(new Date(nowMs));
  const now = () => new Date(nowMs);
  const acme = await openStaffedCompany(openCompany);
  await acme.addWebhook('whk_other', ['job.created']);
  const box = createSecretBox(SECRET_KEY);
  const give = (secret: string) =>
    engine.run(`UPDATE webhooks SET secret = '${secret}' WHERE id = 'whk_all'`);
  const stateOf = async (webhook: string) =>
    (await deliveryRows(engine)).filter((row) => row.webhook === webhook);

  await t.test('wait, and go out when it is back', async (t) => {
    const owner = { company: acme.id, id: 'whk_all' };
    await give(LOST.seal('whsec_lost', owner));
    await acme.apply(jobCreate());
    const sender = scriptedSender(() => answer(200));
    {
      const secrets = { ...box, missing: LOST.fingerprints };
      await using loop = startLoop(engine, sender, { secrets, now });
      await until(async () => (await stateOf('whk_other'))[0]?.state === 'delivered');
      await loop.idle();
      t.match(await stateOf('whk_all'), [{ state: 'waiting', attempt_count: 0, failure_count: 0 }]);
    }
    const secrets = createSecretBox(SECRET_KEY, Buffer.alloc(32, 9).toString('base64'));
    await using loop = startLoop(engine, sender, { secrets, now });
    await loop.idle();
    await until(async () => (await stateOf('whk_all'))[0]?.state === 'delivered');
    t.equal((await attemptRows(engine)).length, 2);
  });

  await t.test('wait, too, when what is stored was damaged or sealed by another process', async (t) => {
    await give('sealed1.00000000.AAAA');
    const sender = scriptedSender(() => answer(200));
    await using loop = startLoop(engine, sender, { secrets: box, now });
    await acme.apply(jobCreate());
    await until(async () => (await stateOf('whk_all')).some(({ state }) => state === 'retrying'));
    const held = (await stateOf('whk_all')).find(({ state }) => state === 'retrying');
    t.match(held, { attempt_count: 0, failure_count: 0 });
    t.notOk((await attemptRows(engine)).some(({ delivery }) => delivery === held?.id));
    // It goes on with the others.
    await until(async () => (await stateOf('whk_other')).every(({ state }) => state === 'delivered'));
    await give(sealedSecret(acme.id, 'whk_all'));
    nowMs += 600_000;
    await loop.idle();
    await until(async () => (await stateOf('whk_all')).every(({ state }) => state === 'delivered'));
  });
});
