import t from 'tap';

import { ping } from '../../../../../src/server/features/webhooks/deliveries/deliveries.ts';
import { listAuditRows } from '../../../../../src/server/store/accounts/audit-trail.ts';
import { signatureOf } from '../../../../../src/contract/delivery-request.ts';
import { engineNames, PORTAL_SETTINGS, STORY_NOW } from '../../../../_server.ts';
import { answer, scriptedSender, startLoop } from './_delivery-loop.ts';
import { until } from '../../../../_command.ts';
import { addHistory } from '../_history.ts';
import { COMPANY, onEachEngine, onSqlite, textOf } from '../../../portal/_portal.ts';
import { addWebhook } from '../_registered.ts';
import { crawl, idsWhere, startHistory } from './_listed.ts';

/** The rows of a page's table: the cells of each row, joined. */
function rowsOf(page: string): string[] {
  const [, body = ''] = /<tbody([\s\S]*?)<\/tbody>/.exec(page) ?? [];
  return (body.match(/<tr[\s\S]*?<\/tr>/g) ?? []).map(textOf);
}

for (const name of engineNames)
  t.test(`${name}: deliveries are filtered by event, state and time, and paged by their keys`, async (t) => {
    const { portal, engine, id, of } = await startHistory(t, 300, name);
    await engine.run(
      `UPDATE deliveries SET state = 'waiting' WHERE webhook = '${id}' AND id IN
        (SELECT id FROM deliveries WHERE webhook = '${id}' ORDER BY id DESC LIMIT 3)`,
    );
    await engine.run(
      `UPDATE deliveries SET state = 'retrying' WHERE webhook = '${id}' AND id IN
        (SELECT id FROM deliveries WHERE webhook = '${id}' ORDER BY id LIMIT 2)`,
    );
    const visitor = await portal.signedIn();
    const mine = `d.webhook = '${id}'`;
    const filters: [query: string, condition: string][] = [
      ['', 'TRUE'],
      ['?event=quote.accepted', "e.kind = 'quote.accepted'"],
      ['?state=unsent', "d.state IN ('failed', 'withheld')"],
      ['?state=waiting', "d.state = 'waiting'"],
      ['?state=retrying', "d.state = 'retrying'"],
      ['?state=delivered', "d.state = 'delivered'"],
      ['?state=delivered&event=quote.accepted', "d.state = 'delivered' AND e.kind = 'quote.accepted'"],
      ['?state=unsent&event=quote.accepted', "d.state = 'failed' AND e.kind = 'quote.accepted'"],
      // The company's clocks are an hour ahead of UTC until 25 October.
      ['?from=2026-10-24T00:00', "e.created_at >= '2026-10-23T23:00'"],
      ['?until=2026-11-01T09:30', "e.created_at < '2026-11-01T09:30'"],
      [
        '?from=2026-10-30T00:00&until=2026-11-10T00:00&event=job.updated',
        "e.created_at >= '2026-10-30' AND e.created_at < '2026-11-10' AND e.kind = 'job.updated'",
      ],
      ['?event=ping', "e.kind = 'ping'"],
    ];
    for (const [query, condition] of filters) {
      const expected = await idsWhere(engine, `${mine} AND ${condition}`);
      t.strictSame(await crawl(visitor, `${of}/deliveries${query}`), expected, query || 'none');
      t.ok(expected.length > 0 || query === '?event=ping', query);
    }
  });

t.test('a delivery shows what was sent and every attempt, and is sent again', async (t) => {
  const { portal, engine, id, secret, of } = await startHistory(t, 20);
  const [delivery = ''] = await idsWhere(engine, `d.webhook = '${id}' AND d.attempt_count = 2`);
  const visitor = await portal.signedIn();
  const path = `${of}/deliveries/${delivery}`;
  await visitor.visit(path);
  const [first, second] = rowsOf(visitor.shown);
  t.match(first, /^1 .* The response was 503\. 3 ms 11 ms 24 ms 41 ms 79 ms \d/);
  t.match(second, /^2 .* The response was 200\. – – – 38 ms 38 ms –$/);

  const body = textOf(/<pre id="body">([\s\S]*?)<\/pre>/.exec(visitor.shown)?.[1] ?? '');
  const sent = [...visitor.text.matchAll(/t=\d+,v1=[0-9a-f]{64}/g)].map(([text]) => text);
  const attempts = await engine.run(
    `SELECT attempted_at FROM delivery_attempts WHERE webhook = '${id}' AND delivery = '${delivery}' ORDER BY number`,
  );
  t.strictSame(
    sent,
    attempts.map((row) => signatureOf(secret, body, new Date(String(row.attempted_at)))),
  );
  t.equal((JSON.parse(body) as { id: string }).id, delivery);

  const form = visitor.shown;
  const tab = visitor.copy();
  await tab.visit(path);
  t.match(await visitor.act(`${path}/send-again`), /We’re sending the delivery again/);
  const sender = scriptedSender(() => answer(200));
  const loop = startLoop(engine, sender);
  await until(
    async () => (await idsWhere(engine, "d.state = 'delivered' AND d.attempt_count = 3")).length === 1,
  );
  visitor.shown = form;
  await visitor.submitAndFollow(`${path}/send-again`);
  t.match(
    await tab.act(`${path}/send-again`),
    /Nothing was sent: there has been another attempt since you loaded the page/,
  );
  await loop[Symbol.asyncDispose]();
  t.strictSame(
    sender.sent.map((request) => request.body),
    [body],
    'exactly what was shown was sent, once',
  );
  t.match(visitor.text, sender.sent[0]?.headers['Service-Signature'] ?? '');
  const trail = await listAuditRows(engine, COMPANY, { action: 'delivery.sent_again', limit: 5 });
  t.strictSame(
    trail.map(({ subject }) => subject),
    [delivery],
  );
});

t.test('what failed since a time is sent again together', async (t) => {
  const { portal, engine, id, of } = await startHistory(t, 300);
  const visitor = await portal.signedIn();
  const later = await idsWhere(
    engine,
    `d.webhook = '${id}' AND d.state = 'failed' AND e.created_at >= '2026-11-10T08:00'`,
  );
  const preview = async (query: string) => (await visitor.visit(`${of}/recover?${query}`)).statusCode;
  for (const wrong of ['', 'yesterday', '2026-11-31T00:00', '2026-11-21T00:00'])
    t.equal(await preview(`from=${wrong}`), 422, wrong);
  t.match(visitor.text, /Choose a time within the last 30 days/);
  t.equal(await preview('from=2026-10-01T00:00'), 200, 'the list may have been shown a while ago');
  t.equal(await preview('from=2026-11-10T08:00&until=soon'), 422);
  t.equal(await preview(''), 422);
  t.match(visitor.text, /Tick deliveries in the list first, or choose a time/);
  t.equal(await preview(Array.from({ length: 101 }, (_, index) => `delivery=${index}`).join('&')), 422);
  t.match(visitor.text, /Choose 1 to 100 deliveries/);

  t.equal(await preview('from=2026-11-10T08:00'), 200);
  t.match(visitor.text, `${later.length} deliveries that failed or were held will be sent again`);
  await engine.run(`UPDATE deliveries SET state = 'delivered' WHERE id = '${later[0]}'`);
  t.match(
    await visitor.refused(`${of}/recover`),
    /The number has changed since you looked\. Nothing was sent\./,
  );
  t.match(visitor.text, `${later.length - 1} deliveries that failed`, 'and what it is now');
  t.strictSame(await idsWhere(engine, "d.state = 'waiting'"), []);
  t.match(await visitor.act(`${of}/recover`), `${later.length - 1} deliveries are being sent again.`);
  t.strictSame(await idsWhere(engine, "d.state = 'waiting'"), later.slice(1));
  await preview('from=2026-11-10T08:00');
  t.match(visitor.text, /Nothing to send again/);
});

t.test('of what failed some are ticked and sent again, or all of a time', async (t) => {
  const { portal, engine, id, of } = await startHistory(t, 300);
  const failed = await idsWhere(engine, `d.webhook = '${id}' AND d.state = 'failed'`);
  const visitor = await portal.signedIn();
  t.match(
    await visitor.read(`${of}/deliveries?state=unsent&from=2026-11-01T00:00`),
    `All deliveries Failed or held (${failed.length})`,
  );
  t.match(rowsOf(visitor.shown)[0], /timeout · 10,000 ms 1$/);
  const ticks = [...visitor.shown.matchAll(/form="ticked"\s+name="delivery"\s+value="([^"]+)"/g)];
  t.strictSame(
    ticks.map(([, tick]) => tick),
    await idsWhere(engine, `d.webhook = '${id}' AND d.state = 'failed' AND e.created_at >= '2026-11-01'`),
  );
  const [hidden] = [...visitor.shown.matchAll(/name="from" value="([^"]+)"/g)].slice(-1);
  t.equal(hidden?.[1], '2026-11-01T00:00', 'all of the time that is shown');

  const [delivered = ''] = await idsWhere(engine, `d.webhook = '${id}' AND d.state = 'delivered'`);
  const chosen = [failed[1] ?? '', failed[3] ?? ''];
  const delivery = [...chosen, failed[1] ?? '', delivered, 'dlv_none'];
  t.match(
    await visitor.read(`${of}/recover?${delivery.map((one) => `delivery=${one}`).join('&')}`),
    '2 deliveries that failed',
  );
  t.match(await visitor.act(`${of}/recover`, { delivery }), '2 deliveries are being sent again.');
  // The other webhook has deliveries with the same ids.
  t.strictSame(await idsWhere(engine, "d.state = 'waiting'"), chosen);
});

t.test('an older page says how many are newer by now', async (t) => {
  const { portal, engine, id, of } = await startHistory(t, 120);
  const visitor = await portal.signedIn();
  await visitor.visit(`${of}/deliveries`);
  const older = /href="([^"]+)" rel="next"/.exec(visitor.shown)?.[1]?.replaceAll('&amp;', '&') ?? '';
  t.notMatch(await visitor.read(older), /newer/);
  for (let index = 0; index < 3; index += 1)
    await ping(engine, { company: COMPANY, webhook: id }, { now: STORY_NOW });
  t.match(await visitor.read(older), / 3 newer Deliveries Event/);
  for (const made of ['never', '-1', '9999-12-31', '']) {
    t.equal((await visitor.visit(`${of}/deliveries?before=dlv_g&made=${made}`)).statusCode, 200, made);
  }
});

onEachEngine('a search among very many is broken off, and can be gone on with', async (t, portal) => {
  const { engine } = portal;
  const { id } = await addWebhook(engine);
  const history = { company: COMPANY, webhooks: [id], until: STORY_NOW, count: 12_000 };
  await addHistory(engine, { ...history, kinds: ['quote.accepted', 'job.updated'], rarelyEvery: 4_000 });
  const { visitor } = await portal.join({ scopes: ['jobs:read', 'forms:read'], mayInvite: false });
  const list = `/portal/webhooks/${id}/deliveries`;
  t.match(
    await visitor.read(list),
    /The search stopped after a few thousand deliveries\. Older ones may match too/,
  );
  t.strictSame(await crawl(visitor, list), await idsWhere(engine, "e.kind = 'job.updated'"));
  await engine.run("UPDATE deliveries SET state = 'failed' WHERE id < 'dlv_01a1a'");
  const all = await portal.signedIn();
  const [query, condition] = [
    '?event=quote.accepted&state=delivered',
    "e.kind = 'quote.accepted' AND d.state = 'delivered'",
  ];
  const expected = await idsWhere(engine, condition);
  await engine.run(`UPDATE deliveries SET state = 'failed' WHERE id <> '${expected.at(-1)}'`);
  t.strictSame(await crawl(all, list + query), [expected.at(-1)], 'along the events of a kind too');
});

t.test('an administrator who lacks a scope finds nothing of its deliveries', async (t) => {
  const { portal, engine, id, of } = await startHistory(t, 300);
  const { visitor } = await portal.join({ scopes: ['jobs:read'], mayInvite: false });
  const mine = `d.webhook = '${id}' AND e.kind`;
  const visible = await idsWhere(engine, `${mine} = 'job.updated'`);
  const [hidden = ''] = await idsWhere(engine, `${mine} = 'quote.accepted' AND d.state = 'failed'`);
  t.strictSame(await crawl(visitor, `${of}/deliveries`), visible);
  t.match(visitor.text, /Deliveries of events whose data you can’t see are left out/);
  t.notMatch(visitor.shown, 'quote.accepted');
  t.strictSame(await crawl(visitor, `${of}/deliveries?event=quote.accepted`), [], 'not by hand either');
  t.match(visitor.text, /“quote\.accepted” isn’t one of these/);
  t.equal((await visitor.visit(`${of}/deliveries/${hidden}`)).statusCode, 404);
  await visitor.visit(`${of}/deliveries/${visible[0]}`);
  t.equal(await visitor.force(`${of}/deliveries/${hidden}/send-again`, { seen: '1' }), 404);
  t.strictSame(await idsWhere(engine, `d.webhook = '${id}' AND d.state = 'waiting'`), []);
});

onSqlite(
  'a ping’s result is on the page, five times a minute at most',
  { portal: { ...PORTAL_SETTINGS, pingWaitMs: 20_000 } },
  async (t, portal) => {
    const { id } = await addWebhook(portal.engine);
    const of = `/portal/webhooks/${id}`;
    const visitor = await portal.signedIn();
    const statuses = [204, 500];
    const loop = startLoop(
      portal.engine,
      scriptedSender(() => answer(statuses.shift() ?? 204)),
    );
    await visitor.visit(of);
    t.match(await visitor.act(`${of}/ping`), /Delivered Test The response was 204\. .* 1 ms \(response 1\)/);
    t.match(await visitor.act(`${of}/ping`), /Retrying Test The response was 500\. .* We’ll retry at/);
    for (let pings = 2; pings < 5; pings += 1) await visitor.submitAndFollow(`${of}/ping`);
    t.match(await visitor.refused(`${of}/ping`), /can send 5 tests a minute/);
    await visitor.submitAndFollow(`${of}/pause`);
    portal.setNow(new Date(STORY_NOW.getTime() + 120_000));
    t.match(await visitor.refused(`${of}/ping`), /is paused\. Resume it first/);
    await loop[Symbol.asyncDispose]();
    t.equal((await listAuditRows(portal.engine, COMPANY, { action: 'webhook.pinged', limit: 9 })).length, 5);
  },
);
