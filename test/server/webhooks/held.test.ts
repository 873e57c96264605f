import { createSecretBox } from '../../../src/server/secret-box.ts';
import { until } from '../../_command.ts';
import { jobCreate, openStaffedCompany } from '../backoffice/_changes.ts';
import { onEachEngine } from '../backoffice/_backoffice.ts';
import {
  answer,
  attemptRows,
  deliveryRows,
  scriptedSender,
  SECRET_KEY,
  startLoop,
} from './_delivery-loop.ts';

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
    await give('whsec_mended');
    nowMs += 600_000;
    await loop.idle();
    await until(async () => (await stateOf('whk_all')).every(({ state }) => state === 'delivered'));
  });
});
