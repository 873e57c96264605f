import { tellOutages } from '../../../src/server/store/deliveries/webhook-outages.ts';
import { onEachEngine } from '../backoffice/_backoffice.ts';
import { jobCreate, openStaffedCompany } from '../backoffice/_changes.ts';
import { addAdministrator } from '../portal/_portal.ts';
import { answer, scriptedSender, startLoop } from '../webhooks/_delivery-loop.ts';

const MINUTE_MS = 60_000;
const begun = Date.parse('2026-11-20T12:00:00.000Z');

onEachEngine('outages are told daily, and four hours apart', async (t, { engine, openCompany, setNow }) => {
  const acme = await openStaffedCompany(openCompany);
  await addAdministrator(engine, { company: acme.id, email: 'aoife@acme.example', scopes: ['jobs:read'] });
  let [at, isWorking] = [begun, false];
  const sender = scriptedSender(() => answer(isWorking ? 204 : 503));
  const sendAt = async (minute: number, works: boolean) => {
    [at, isWorking] = [begun + minute * MINUTE_MS, works];
    setNow(new Date(at));
    await acme.apply(jobCreate());
    const loop = startLoop(engine, sender, { now: () => new Date(at), random: () => 0, perWebhookMax: 64 });
    await loop.idle();
    await loop[Symbol.asyncDispose]();
  };
  const toldAt = async (minute: number) => {
    const now = new Date(begun + minute * MINUTE_MS);
    await tellOutages(engine, now);
    const rows = await engine.db
      .selectFrom('notices')
      .select('kind')
      .where('created_at', '=', now.toISOString())
      .execute();
    return rows.map(({ kind }) => kind);
  };
  const HOUR = 60;
  await sendAt(0, false);
  t.strictSame(await toldAt(14), [], 'not before a quarter of an hour');
  t.strictSame(await toldAt(15), ['webhook.failing']);
  t.strictSame(await toldAt(30 * HOUR), [], 'not again of what was never tried again');
  await sendAt(31 * HOUR, false);
  t.strictSame(await toldAt(31 * HOUR + 1), ['webhook.failing'], 'a day later, and it failed anew');
  await sendAt(32 * HOUR, false);
  t.strictSame(await toldAt(33 * HOUR), [], 'once a day');
  await sendAt(34 * HOUR, true);
  t.strictSame(await toldAt(34 * HOUR + 1), ['webhook.recovered']);
  await sendAt(34 * HOUR + 2, false);
  t.strictSame(await toldAt(35 * HOUR), [], 'another outage within four hours of the last notice');
  await sendAt(35 * HOUR + 1, false);
  t.strictSame(await toldAt(35 * HOUR + 2), ['webhook.failing'], 'and when they are over');
});
