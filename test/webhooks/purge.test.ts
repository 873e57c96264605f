import { createLogger } from '../../src/log.ts';
import { deleteWebhookRow } from '../../src/store/webhooks.ts';
import { keepPurging, purge } from '../../src/webhooks/purge.ts';
import { until } from '../_command.ts';
import { jobCreate, openStaffedCompany } from '../backoffice/_changes.ts';
import { onEachEngine, type TestCompany } from '../backoffice/_office.ts';
import { answer, attemptRows, deliveryRows, scriptedSender, startLoop } from './_delivery-loop.ts';

const DAY_MS = 86_400_000;
const made = new Date('2026-10-01T12:00:00.000Z');
const daysLater = (days: number) => () => new Date(made.getTime() + days * DAY_MS);

onEachEngine('the history', async (t, { openCompany, engine, setNow }) => {
  setNow(made);
  const acme = await openStaffedCompany(openCompany);
  /** Makes jobs, of which all but the last are delivered. */
  const deliver = async (company: TestCompany, count: number) => {
    for (let index = 0; index < count; index += 1) await company.apply(jobCreate());
    const loop = startLoop(
      engine,
      scriptedSender(() => answer(200)),
      { now: () => made },
    );
    await until(async () => (await deliveryRows(engine)).every(({ state }) => state === 'delivered'));
    await loop[Symbol.asyncDispose]();
    await company.apply(jobCreate());
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
    await engine.run('DELETE FROM deliveries');
    await engine.run('DELETE FROM events');
    await acme.addWebhook('whk_second', ['job.created']);
    await acme.apply(jobCreate());
    await engine.run("UPDATE deliveries SET state = 'failed' WHERE webhook = 'whk_second'");
    await purge(engine, daysLater(31));
    t.match(await deliveryRows(engine), [{ webhook: 'whk_all', state: 'waiting' }]);
    t.equal((await acme.events()).length, 1);
  });

  await t.test('of a deleted webhook goes with it', async (t) => {
    await deleteWebhookRow(engine, acme.id, 'whk_all', made.toISOString());
    const log = createLogger('silent');
    {
      await using purging = keepPurging(engine, { now: daysLater(0), log });
      t.ok(purging);
      await until(async () => (await engine.db.selectFrom('webhooks').select('id').execute()).length === 1);
    }
    t.strictSame(await counts(), [0, 0, 0]);
    t.match(await engine.db.selectFrom('webhooks').select('id').execute(), [{ id: 'whk_second' }]);
  });
});
