// Long: it goes through simulated days of outages.
import { randomUUID } from 'node:crypto';

import { noticeTexts } from '../../../../src/server/features/notices/texts.ts';
import type { NoticeKind } from '../../../../src/server/store/accounts/notice-rows.ts';
import { tellLosses, tellOutages } from '../../../../src/server/features/webhooks/webhook-outages.ts';
import { leaseDue, listDue } from '../../../../src/server/store/outbox.ts';
import { pauseWebhook, resumeWebhook } from '../../../../src/server/features/webhooks/registration.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { onEachEngine } from '../../backoffice/_backoffice.ts';
import { jobCreate, openStaffedCompany } from '../../backoffice/_changes.ts';
import { addAdministrator } from '../../portal/_portal.ts';
import { answer, scriptedSender, startLoop } from './deliveries/_delivery-loop.ts';
import { mailOnce, startMailServer } from '../notices/_mail-server.ts';

const HOUR_MS = 3_600_000;
const begun = Date.parse('2026-11-20T12:00:00.000Z');
/** The hours since then in which the receiver refuses everything, and in which the mail server lets nobody in. */
const outages = [
  [8, 8.5],
  [50, 123.5],
  [300, 304],
  [500, 527],
];
const mailOutages = [
  [49, 60],
  [299, 310],
];
const isIn = (hour: number, spans: number[][]) =>
  spans.some(([from = 0, to = 0]) => hour >= from && hour < to);
/** Around outages each hour is lived through; of the other days one hour, unless OUTAGES_HOURLY is set. */
const busy = [...outages, ...mailOutages].map(([from = 0, to = 0]) => [from - 2, to + 4]);
const isLived = (hour: number) =>
  process.env.OUTAGES_HOURLY !== undefined || hour % 24 === 0 || isIn(hour, busy);

/** What each person is told, and in which hour: an outage of less than a quarter of an hour isn't among it. */
const expected = [
  ...['webhook.failing 51', 'delivery.failed 73', 'webhook.failing 75', 'webhook.failing 99'],
  ...['webhook.failing 123', 'webhook.recovered 124', 'webhook.failing 301', 'webhook.recovered 304'],
  ...['webhook.failing 501', 'delivery.failed 523', 'webhook.failing 525', 'webhook.recovered 527'],
];

onEachEngine('30 days of outages: each is told once', async (t, { engine, url, openCompany, setNow }) => {
  const acme = await openStaffedCompany(openCompany);
  const add = async (email: string, scopes = ['jobs:read']) =>
    (await addAdministrator(engine, { company: acme.id, email, scopes })).id;
  const told = [await add('aoife@acme.example'), await add('conor@acme.example')];
  // No event has customers, so nothing that this person may see is sent.
  await add('blind@acme.example', ['customers:read']);
  await add('gone@acme.example');
  await engine.run("UPDATE administrators SET disabled_at = '2026-11-20' WHERE email LIKE 'gone%'");
  const server = await startMailServer(t);
  await using other = await openEngine(url);
  let at = begun;
  const now = () => new Date(at);
  const sender = scriptedSender(() => answer(isIn((at - begun) / HOUR_MS, outages) ? 503 : 204));
  for (let hour = 0; hour <= 30 * 24; hour += 1) {
    if (!isLived(hour)) continue;
    at = begun + hour * HOUR_MS;
    setNow(now());
    if (hour % 2 === 0) await acme.apply(jobCreate());
    const loop = startLoop(engine, sender, { now, random: () => 0, perWebhookMax: 64 });
    await loop.idle();
    await loop[Symbol.asyncDispose]();
    await Promise.all([tellOutages(engine, now()), tellOutages(other, now())]);
    server.behaviour.isLockedOut = isIn(hour, mailOutages);
    const [first] = await listDue(engine, 'notices', now(), 1);
    // A process is killed before it sends: its lease runs out.
    const lease = { lease: randomUUID(), now: now(), until: new Date(at + 120_000) };
    if (first && hour % 3 === 0) await leaseDue(engine, first, lease, async () => ({ state: 'sending' }));
    await Promise.all([mailOnce(engine, server.url, now()), mailOnce(other, server.url, now())]);
  }
  const rows = await engine.db.selectFrom('notices').selectAll().orderBy('created_at').execute();
  for (const id of told)
    t.strictSame(
      rows
        .filter(({ administrator }) => administrator === id)
        .map(({ kind, created_at }) => `${kind} ${(Date.parse(created_at) - begun) / HOUR_MS}`),
      expected,
    );
  t.ok(rows.every(({ administrator, state }) => told.includes(administrator ?? '') && state === 'sent'));
  const mailed = server.mails.map(({ headers }) => headers.get('message-id'));
  t.strictSame(mailed.toSorted(), rows.map(({ id }) => `<${id}@fieldledger.example>`).toSorted());
  const recovered = server.mails.find(({ text }) => text.includes('It was failing from'));
  t.match(
    recovered?.text,
    /^It was failing from 22 Nov 2026, 14:00 \(Europe\/Dublin\) to 25 Nov 2026, 16:00 \(.* send again: 26\./,
  );
});

/** What has been told since then, the oldest first, in the words of its mail. */
async function noticesSince(engine: Engine, since: Date) {
  const told = engine.db.selectFrom('notices').select(['kind', 'details']).orderBy('created_at');
  const rows = await told.where('created_at', '>=', since.toISOString()).execute();
  return rows.map(({ kind, details }) => {
    const notice = { kind: kind as NoticeKind, details: JSON.parse(details) as Record<string, string> };
    const company = { name: 'Acme', timeZone: 'Europe/Dublin' };
    return { kind, ...noticeTexts(notice, company, 'Fieldledger', { isMail: true }) };
  });
}

onEachEngine('outages are told daily, and four hours apart', async (t, { engine, openCompany, setNow }) => {
  const acme = await openStaffedCompany(openCompany);
  await addAdministrator(engine, { company: acme.id, email: 'aoife@acme.example', scopes: ['jobs:read'] });
  let [at, isWorking] = [begun, false];
  const sender = scriptedSender(() => answer(isWorking ? 204 : 503));
  const sendAt = async (minute: number, works: boolean) => {
    [at, isWorking] = [begun + minute * 60_000, works];
    setNow(new Date(at));
    await acme.apply(jobCreate());
    const loop = startLoop(engine, sender, { now: () => new Date(at), random: () => 0, perWebhookMax: 64 });
    await loop.idle();
    await loop[Symbol.asyncDispose]();
  };
  const toldAt = async (minute: number) => {
    const now = new Date(begun + minute * 60_000);
    await tellOutages(engine, now);
    return (await noticesSince(engine, now)).map(({ kind }) => kind);
  };
  const HOUR = 60;
  await sendAt(0, false);
  t.strictSame(await toldAt(14), [], 'not before a quarter of an hour');
  t.strictSame(await toldAt(15), ['webhook.failing']);
  t.strictSame(await toldAt(30 * HOUR), [], 'not again of what was never tried again');
  await sendAt(31 * HOUR, false);
  t.strictSame(await toldAt(31 * HOUR + 1), ['webhook.failing'], 'a day later, and it failed anew');
  t.match(await noticesSince(engine, new Date(begun)), [
    {
      subject: /^The webhook to \S+ is failing$/,
      text: /The response was 503\. Deliveries waiting: 1; .* held: 0\./,
    },
    { subject: /^The webhook to \S+ is still failing$/, text: /Deliveries waiting: 2; / },
  ]);
  await sendAt(32 * HOUR, false);
  t.strictSame(await toldAt(33 * HOUR), [], 'once a day');
  await sendAt(34 * HOUR, true);
  t.strictSame(await toldAt(34 * HOUR + 1), ['webhook.recovered']);
  await sendAt(34 * HOUR + 2, false);
  t.strictSame(await toldAt(35 * HOUR), [], 'another outage within four hours of the last notice');
  await sendAt(35 * HOUR + 1, false);
  t.strictSame(await toldAt(35 * HOUR + 2), ['webhook.failing'], 'and when they are over');
});

onEachEngine(
  'a paused webhook is told of before it loses deliveries, and again each week',
  async (t, { engine, openCompany, setNow }) => {
    const acme = await openStaffedCompany(openCompany);
    await addAdministrator(engine, { company: acme.id, email: 'aoife@acme.example', scopes: ['jobs:read'] });
    setNow(new Date(begun));
    await pauseWebhook(engine, acme.id, 'whk_all', new Date(begun));
    await acme.apply(jobCreate());
    const toldAt = async (hour: number) => {
      const now = new Date(begun + hour * HOUR_MS);
      await Promise.all([tellLosses(engine, now), tellLosses(engine, now), tellOutages(engine, now)]);
      return noticesSince(engine, now);
    };
    t.strictSame(await toldAt(22 * 24), [], 'not before a week');
    t.match(await toldAt(23 * 24 + 1), [
      {
        subject: /^Deliveries to \S+ will be lost$/,
        text: /Deliveries waiting: 1\. .* the next at 20 Dec 2026, 12:00/,
      },
    ]);
    t.strictSame(await toldAt(29 * 24), []);
    t.match(await toldAt(30 * 24), [{ subject: /^Deliveries to \S+ are being lost$/ }]);
    await resumeWebhook(engine, acme.id, 'whk_all', new Date(begun));
    t.strictSame(await toldAt(60 * 24), [], 'nor once it goes on');
  },
);
