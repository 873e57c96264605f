import { createLogger } from '../../../src/server/process/log.ts';
import { removeOld } from '../../../src/server/features/webhooks/deliveries/deliveries-purge.ts';
import { keepPurging, purgeChangeIds, purge } from '../../../src/server/commands/purge.ts';
import { deleteWebhook } from '../../../src/server/features/webhooks/registration.ts';
import { until } from '../../_command.ts';
import { jobCreate, openStaffedCompany } from '../backoffice/_changes.ts';
import { onEachEngine, type TestCompany } from '../backoffice/_backoffice.ts';
import {
  answer,
  attemptRows,
  deliveryRows,
  scriptedSender,
  settled,
  startLoop,
} from '../features/webhooks/deliveries/_delivery-loop.ts';

const DAY_MS = 86_400_000;
const made = new Date('2026-10-01T12:00:00.000Z');
const daysLater = (days: number) => () => new Date(made.getTime() + days * DAY_MS);

onEachEngine('the history', async (t, { openCompany, engine, setNow }) => {
  setNow(made);
  const acme = await openStaffedCompany(openCompany);
  /** Makes jobs, of which all but the last are delivered. */
  const deliver = async (company: TestCompany, count: number) => {
    for (let index = 0; index < count; index += 1) await company.apply(jobCreate());
    const sender = scriptedSender(() => answer(200));
    const loop = startLoop(engine, sender, { now: () => made });
    await settled(engine, 'delivered');
    await loop[Symbol.asyncDispose]();
    await company.apply(jobCreate());
  };
  const forget = async () => {
    for (const table of ['deliveries', 'events']) await engine.run(`DELETE FROM ${table}`);
  };
  const counts = async () => [
    (await deliveryRows(engine)).length,
    (await attemptRows(engine)).length,
    (await acme.events()).length,
  ];

  await t.test('is kept for 30 days, and what waits is kept for longer', async (t) => {
    await deliver(acme, 60);
    t.strictSame(await counts(), [61, 60, 61]);
    await purge(engine, daysLater(30));
    t.strictSame(await counts(), [61, 60, 61], 'to the millisecond');
    await purge(engine, () => new Date(daysLater(30)().getTime() + 1_000));
    t.strictSame(await counts(), [1, 0, 1]);
  });

  await t.test('of an event stays while another webhook waits for it', async (t) => {
    await forget();
    await acme.addWebhook('whk_second', ['job.created']);
    await acme.apply(jobCreate());
    await engine.run("UPDATE deliveries SET state = 'failed' WHERE webhook = 'whk_second'");
    await purge(engine, daysLater(31));
    t.match(await deliveryRows(engine), [{ webhook: 'whk_all', state: 'waiting' }]);
    t.equal((await acme.events()).length, 1);
  });

  await t.test('goes a little at a time, however many attempts there were', async (t) => {
    await forget();
    await deliver(acme, 8);
    await engine.run("UPDATE deliveries SET attempt_count = 60, state = 'failed'");
    const numbers =
      engine.dialect.name === 'sqlite'
        ? 'WITH RECURSIVE g (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM g WHERE n < 60)'
        : 'WITH g AS (SELECT generate_series(2, 60) AS n)';
    await engine.run(
      `${numbers} INSERT INTO delivery_attempts (company, webhook, delivery, number, attempted_at, status, total_ms)
       SELECT company, webhook, id, n, due_at, 500, 1 FROM deliveries CROSS JOIN g`,
    );
    const total = async () => (await counts()).reduce((sum, count) => sum + count, 0);
    let left = await total();
    t.ok(left > 1_000);
    let after: string | undefined = '';
    for (let pass = 0; after !== undefined && pass < 100; pass += 1) {
      after = await removeOld(engine, daysLater(31)(), after);
      const rest = await total();
      // A pass removes the rows of one delivery and its attempts, and of its event.
      t.ok(left - rest <= 130, `${left - rest} rows in one pass`);
      left = rest;
    }
    t.strictSame(await counts(), [0, 0, 0]);
  });

  await t.test('keeps what was sent again at this moment', async (t) => {
    await acme.apply(jobCreate());
    await engine.run("UPDATE deliveries SET state = 'failed' WHERE webhook = 'whk_all'");
    const late = {
      ...engine,
      transaction: async (work: Parameters<typeof engine.transaction>[0]) => {
        await engine.run("UPDATE deliveries SET state = 'waiting' WHERE webhook = 'whk_all'");
        return engine.transaction(work);
      },
    } as typeof engine;
    await removeOld(late, daysLater(31)(), '');
    const ofAll = (await deliveryRows(engine)).filter(({ webhook }) => webhook === 'whk_all');
    t.match(ofAll, [{ state: 'waiting' }]);
    t.equal((await acme.events()).length, 1);
    await engine.run("DELETE FROM deliveries WHERE webhook = 'whk_second'");
  });

  await t.test('of a deleted webhook goes with it', async (t) => {
    await deleteWebhook(engine, acme.id, 'whk_all', made);
    const log = createLogger('silent');
    {
      await using purging = keepPurging(engine, { now: daysLater(0), log, changeIdDays: 90 });
      t.ok(purging);
      await until(async () => (await engine.db.selectFrom('webhooks').select('id').execute()).length === 1);
    }
    t.strictSame(await counts(), [0, 0, 0]);
    t.match(await engine.db.selectFrom('webhooks').select('id').execute(), [{ id: 'whk_second' }]);
  });
});

onEachEngine('ids of changes', async (t, { openCompany, engine, setNow }) => {
  const made = new Date();
  setNow(made);
  const acme = await openStaffedCompany(openCompany);
  const ids = async () =>
    (await engine.db.selectFrom('applied_changes').select('id').orderBy('id').execute()).map(({ id }) => id);
  const daysOn = (days: number) => () => new Date(made.getTime() + days * 86_400_000);
  for (let index = 0; index < 3; index += 1)
    await acme.apply({ id: `new ${index}`, ...jobCreate({ id: `job_${index}` }) });
  // More than a pass removes.
  const old = Array.from(
    { length: 1_200 },
    (_, index) => `('${acme.id}', 'old ${index}', 'job.create', '', '${daysOn(-40)().toISOString()}')`,
  );
  await engine.run(
    `INSERT INTO applied_changes (company, id, change, content_digest, applied_at) VALUES ${old.join()}`,
  );

  await t.test('are kept for 90 days', async (t) => {
    const all = await ids();
    await purgeChangeIds(engine, { now: daysOn(49), days: 90 });
    t.strictSame(await ids(), all);
    await Promise.all([1, 2, 3].map(async () => purgeChangeIds(engine, { now: daysOn(51), days: 90 })));
    t.strictSame(
      await ids(),
      all.filter((id) => !id.startsWith('old')),
    );
    await purgeChangeIds(engine, { now: daysOn(91), days: 90 });
    t.strictSame(await ids(), []);
  });
});
